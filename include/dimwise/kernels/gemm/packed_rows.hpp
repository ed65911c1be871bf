// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/gemm/packed_rows.hpp -- one block of C where the rows of A are packed as well as the panels of B.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only.
// Tests: tests/kernels/gemm/product.test.cpp
//
// Both operands of a tile are then streams of adjacent lines, whatever the strides of A. For each block of k and each
// group of columns, B is packed once; some rows of A are packed, and all panels of the group take them while they are
// in the L2 cache. Sums of blocks of k wait in C where C can hold them, otherwise in scratch.
//
// Block sizes decide when an element is read, never the order in which its products are added: that order follows from
// gemm_tile::depth alone, so the bits do not depend on caches or workers.
//
// On a Zen 4 core limited to AVX2 (512 x 768 x 3072, share of the peak): 85 to 92 % with a packed B, 80 to 91 % with
// packing included, 70 to 90 % with a transposed A. On AVX-512 a panel is four times as
// wide: packing loses up to 2 % where rows of A are contiguous, and a transposed A went from 54 to 90 %.
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/gemm/block.hpp>
#include <dimwise/kernels/gemm/epilogue.hpp>
#include <dimwise/kernels/gemm/pack.hpp>
#include <dimwise/kernels/gemm/pack_rows.hpp>
#include <dimwise/kernels/gemm/tile.hpp>
#include <dimwise/kernels/rows/carried_sum.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>
#include <utility>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

// Tiles of a panel up to which they prefetch the next panel as they compute. A share of it before each tile would be
// more lines than a core requests at a time, and the tile would wait for them: a text of 16 tokens, whose weights come
// from memory, took 6.0 ms before and 3.7 ms after (`minilm_16` of bench_generation, a Zen 4 core limited to AVX2).
inline constexpr std::size_t few_tiles = 8;

// The sums that a tile starts from and writes.
template <class Arch>
struct tile_sums {
  const element_of<Arch>* from;  // null: starts from zero
  std::ptrdiff_t from_step;
  element_of<Arch>* to;
  std::ptrdiff_t to_step;
  const element_of<Arch>* bias;  // added to each row before it is written; null: nothing
  const element_of<Arch>* soon;  // rows that are read or written at the end of this tile or after it
  std::ptrdiff_t soon_step;
  bytes_ahead later{};  // the next panel, if few tiles use this one
};

// The tile of packed operands; prefetches `later` if `Fetches`, which costs products of many rows 1 %.
template <class Arch, std::size_t Vectors, bool Fetches>
[[gnu::noinline]] void packed_tile(std::size_t depth, const element_of<Arch>* a, const element_of<Arch>* b,
                                   const tile_sums<Arch>& at) noexcept {
  constexpr std::size_t rows = gemm_tile<Arch>::rows;
  constexpr std::size_t width = Vectors * lanes<Arch>;
  floats<Arch> acc[rows][Vectors];
#pragma GCC unroll 6
  for (std::size_t r = 0; r < rows; ++r) {
    const element_of<Arch>* const row = at.soon + static_cast<std::ptrdiff_t>(r) * at.soon_step;
    for (std::size_t j = 0; j < width; j += 64 / sizeof(element_of<Arch>)) __builtin_prefetch(row + j, 1);
    __builtin_prefetch(row + width - 1, 1);
  }
  clear_tile<Arch>(acc);
  const tile_input<Arch> in{depth, a, 1, rows, b, width, lanes<Arch>};
  if constexpr (Fetches) tile_loop<Arch, rows, Vectors, false>(in, acc, at.later);
  else tile_loop<Arch, rows, Vectors, false>(in, acc);
  finish_tile<Arch, rows, Vectors, false>(acc, lanes<Arch>, at.from, at.from_step, at.bias, at.to, at.to_step);
}

template <class Arch>
using packed_tile_function = void (*)(std::size_t, const element_of<Arch>*, const element_of<Arch>*,
                                      const tile_sums<Arch>&) noexcept;
template <class Arch, class Index>
struct packed_tile_table;
template <class Arch, std::size_t... Index>
struct packed_tile_table<Arch, std::index_sequence<Index...>> {
  static constexpr packed_tile_function<Arch> of[] = {&packed_tile<Arch, Index + 1, false>...};
};
// Whether tiles of whole panels exist that prefetch the next panel.
template <class Arch>
inline constexpr bool has_fetching_tile = register_bytes<Arch> == 32;

// A tile at the end of C's rows or columns: its sums are computed whole, and added and stored where C has elements.
template <class Arch>
[[gnu::noinline]] void store_edge(const element_of<Arch>* sums, std::size_t width, std::size_t rows,
                                  std::size_t columns, const tile_sums<Arch>& at) noexcept {
  for (std::size_t r = 0; r < rows; ++r, sums += width) {
    const auto row = static_cast<std::ptrdiff_t>(r);
    for (std::size_t j = 0; j < columns; j += lanes<Arch>) {
      const std::size_t count = min(lanes<Arch>, columns - j);
      floats<Arch> x = load<Arch>(sums + j);
      if (at.from != nullptr) x = load_columns<Arch>(at.from + row * at.from_step + j, 1, count) + x;
      if (at.bias != nullptr) x = x + load_columns<Arch>(at.bias + j, 1, count);
      store_columns<Arch>(at.to + row * at.to_step + j, 1, count, x);
    }
  }
}

// One block of k of a block of C.
struct packed_pass {
  std::size_t extent;
  bool first;
  bool last;   // the sums are complete
  bool holds;  // sums wait in C, or none wait
};

// A tile of at most four rows, by a lower tile: packed rows that C does not have are zeros.
template <class Arch>
[[gnu::always_inline]] inline void compute_few_rows(std::size_t depth, const element_of<Arch>* a, const panel<Arch>& b,
                                                    std::size_t rows, const tile_sums<Arch>& at) noexcept {
  const tile_input<Arch> in{depth,  a,      1,          static_cast<std::ptrdiff_t>(gemm_tile<Arch>::rows),
                            b.data, b.step, lanes<Arch>};
  tile_for<Arch, free_tails<Arch>>(rows > 2 ? 4 : 2, b.registers)(in, at.from, at.from_step, at.bias, at.to,
                                                                  at.to_step);
}

// Computes all tiles of some packed rows and one panel. `waiting`: the sums of these rows and this panel in scratch.
template <class Arch>
[[gnu::always_inline]] inline void multiply_panel(const packed_pass& now, const element_of<Arch>* a,
                                                  const panel<Arch>& b, const block_range& range, std::size_t column,
                                                  element_of<Arch>* tile_scratch, element_of<Arch>* waiting,
                                                  const destination<Arch>& to, upcoming_rows<Arch> next) noexcept {
  using tile = gemm_tile<Arch>;
  using tiles = packed_tile_table<Arch, std::make_index_sequence<tile::vectors>>;
  packed_tile_function<Arch> compute = tiles::of[b.registers - 1];
  const std::size_t width = b.registers * lanes<Arch>;
  const auto step = static_cast<std::ptrdiff_t>(width);
  const std::size_t tiles_of_panel = ceil_div(range.row_end - range.row_begin, tile::rows);
  const std::size_t share = ceil_div(next.count, tiles_of_panel);
  bytes_ahead later{nullptr, 0};
  if constexpr (has_fetching_tile<Arch>) {
    // The tiles of few rows, which are lower, prefetch nothing.
    const std::size_t whole_tiles = (range.row_end - range.row_begin + 1) / tile::rows;
    const bool contiguous = next.step == static_cast<std::ptrdiff_t>(next.columns);
    if (contiguous && whole_tiles > 0 && tiles_of_panel <= few_tiles && b.registers == tile::vectors) {
      const std::size_t bytes = next.count * next.columns * sizeof(element_of<Arch>);
      later = {reinterpret_cast<const char*>(next.data),
               static_cast<std::ptrdiff_t>(ceil_div(bytes, max(1, whole_tiles * now.extent)))};
      compute = &packed_tile<Arch, tile::vectors, true>;
      next.count = 0;
    }
  }
  const bool direct = to.direct && to.c.column_stride == 1;
  const element_of<Arch>* const bias = now.last && direct && to.bias != nullptr ? to.bias + column : nullptr;
  const bool into_c = now.holds && (!now.last || direct);
  const bool from_c = now.holds && (!now.first || (to.onto && direct));
  element_of<Arch>* const edge = tile_scratch + written_tiles * tile::rows * tile::columns;
  std::size_t written = range.row_begin;
  for (std::size_t row = range.row_begin; row < range.row_end; row += tile::rows, a += tile::rows * now.extent) {
    const std::size_t rows = min(tile::rows, range.row_end - row);
    next.fetch(share);
    element_of<Arch>* const c = to.c.at(row, column);
    element_of<Arch>* const local =
        now.holds ? tile_scratch + (row - written) * width : waiting + (row - range.row_begin) * width;
    tile_sums<Arch> at{nullptr, step, local, step, bias, c, to.c.row_stride, later};
    if (later.at != nullptr) later.at += later.step * static_cast<std::ptrdiff_t>(now.extent);
    if (from_c) at.from = c, at.from_step = to.c.row_stride;
    else if (!now.first) at.from = local;
    if (into_c) at.to = c, at.to_step = to.c.row_stride;
    const bool in_c = from_c || into_c;
    const bool whole = rows == tile::rows && b.columns == width;
    const tile_sums<Arch> alone{nullptr, 0, edge, step, nullptr, c, to.c.row_stride, at.later};
    const tile_sums<Arch>& computed = in_c && !whole ? alone : at;
    if (rows > 4) compute(now.extent, a, b.data, computed);
    else compute_few_rows<Arch>(now.extent, a, b, rows, computed);
    if (in_c && !whole) store_edge<Arch>(edge, width, rows, b.columns, at);
    if (!now.last || into_c) continue;
    if (row + rows == range.row_end || row + rows == written + written_tiles * tile::rows) {
      const element_of<Arch>* const sums = now.holds ? tile_scratch : waiting + (written - range.row_begin) * width;
      to.write(sums, row + rows - written, b.columns, b.registers, to, written, column);
      written = row + rows;
    }
  }
}

// C[range] = epilogue(A B) with packed rows of A.
template <class Arch, panel_source Source>
void multiply_packed_rows(const product<Arch>& p, const block_range& range, const destination<Arch>& to, bool holds,
                          element_of<Arch>* scratch) noexcept {
  static_assert(Source == panel_source::packed || Source == panel_source::copied,
                "dimwise: this block reads only panels that are packed");
  using tile = gemm_tile<Arch>;
  constexpr std::size_t width = tile::columns;
  const depth_blocks<Arch> blocks(p.k);
  const std::size_t rows = range.row_end - range.row_begin;
  const std::size_t levels = sum_levels<Arch>(p.k);
  const bool carries = levels > 1;
  const std::size_t most = packed_a_columns / width;
  const std::size_t panels = min(ceil_div(range.column_end - range.column_begin, width),
                                 holds ? most : min(most, waiting_panels_of<Arch>(rows, p.k)));
  const packed_scratch at = packed_scratch_of<Arch>(rows, panels, holds ? 0 : panels, p.k);
  const std::size_t most_rows =
      ceil_div(ceil_div(rows, tile::rows), ceil_div(rows, packed_a_rows)) * tile::rows;  // parts of similar extents
  const typename carried_rows_of<element_of<Arch>>::adder add = [](std::size_t n, element_of<Arch>* sum,
                                                                   const element_of<Arch>* x) {
    for (std::size_t i = 0; i < n; i += lanes<Arch>) store<Arch>(sum + i, load<Arch>(sum + i) + load<Arch>(x + i));
  };
  for (std::size_t first = range.column_begin; first < range.column_end; first += panels * width) {
    const std::size_t end = min(range.column_end, first + panels * width);
    carried_rows_of<element_of<Arch>> carried(carries ? at.level : 0, at.level, levels, scratch + at.sums);
    for (std::size_t block = 0; block < blocks.count; ++block) {
      if (carries && block > 0 && block % depth_group == 0) carried.carry(add);
      const std::size_t begin = blocks.begin(block);
      const std::size_t extent = blocks.extent(block);
      const packed_pass now{extent, block == 0, block + 1 == blocks.count && !carries, holds};
      block_range part = range;
      for (; part.row_begin < range.row_end; part.row_begin = part.row_end) {
        part.row_end = min(range.row_end, part.row_begin + most_rows);
        pack_rows<Arch>(part.row_end - part.row_begin, extent,
                        {p.a.at(part.row_begin, begin), p.a.row_stride, p.a.column_stride}, scratch + at.a);
        const bool packs = part.row_begin == range.row_begin;
        for (std::size_t column = first; column < end; column += width) {
          const std::size_t index = (column - first) / width;
          element_of<Arch>* const slot = scratch + index % at.slots * width * extent;
          const std::size_t columns = min(width, p.n - column);
          const std::size_t padded = padded_columns<Arch>(columns);
          element_of<Arch>* const waiting =
              holds ? nullptr : scratch + at.sums + index * at.panel_sums + (part.row_begin - range.row_begin) * padded;
          panel<Arch> b{slot, static_cast<std::ptrdiff_t>(padded), columns, padded / lanes<Arch>, false};
          upcoming_rows<Arch> next{nullptr, 0, 0, 0};
          if constexpr (Source == panel_source::packed) {
            b.data = p.b.data + packed_offset<Arch>(p.n, begin, extent, column);
            next = {b.data + padded * extent, static_cast<std::ptrdiff_t>(width), extent, width};
          } else if (packs) {
            next = pack_next<Arch>({p.b.at(begin, 0), p.b.row_stride, p.b.column_stride}, extent, index, column, end,
                                   slot);
          } else {
            next = {slot + width * extent, static_cast<std::ptrdiff_t>(width), extent, width};
          }
          multiply_panel<Arch>(now, scratch + at.a, b, part, column, scratch + at.tile, waiting, to, next);
        }
      }
    }
    if (!carries) continue;
    carried.finish(add);
    for (std::size_t column = first; column < end; column += width) {
      const std::size_t columns = min(width, p.n - column);
      to.write(carried.row() + (column - first) / width * at.panel_sums, rows, columns,
               padded_columns<Arch>(columns) / lanes<Arch>, to, range.row_begin, column);
    }
  }
}

// C[range] = epilogue(A B): packs rows of A where it pays.
template <class Arch, panel_source Source>
void multiply_block(const product<Arch>& p, const block_range& range, const destination<Arch>& to,
                    element_of<Arch>* scratch) noexcept {
  if constexpr (Source != panel_source::in_place) {
    if (packs_a<Arch>(p.a, range.row_end - range.row_begin, range.column_end - range.column_begin)) {
      const bool holds = to.c.column_stride == 1 && !to.reads_c && sum_levels<Arch>(p.k) == 1;
      // Sums that wait in scratch bound the rows.
      const bool bounded = !holds && p.k > gemm_tile<Arch>::depth;
      block_range part = range;
      for (; part.row_begin < range.row_end; part.row_begin = part.row_end) {
        part.row_end = bounded ? min(range.row_end, part.row_begin + waiting_rows) : range.row_end;
        multiply_packed_rows<Arch, Source>(p, part, to, !bounded, scratch);
      }
      return;
    }
  }
  multiply_rows<Arch, Source>(p, range, to, scratch);
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
