// dimwise/kernels/gemm/block.hpp -- one block of C: tiles over panels of B, which are packed, copied, or read in place.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only.
// Tests: tests/kernels/gemm/product.test.cpp
//
// One block is one task: it owns its rows and columns of C over all of k, so tasks share no memory that they write, and
// the order of every sum is fixed. Where rows of A are not packed, sums over several blocks of k stay in scratch, not
// in C: C may have any strides, may be an input of the epilogue, and is written once. Sums over very many blocks of k
// are carried from group to group, to preserve digits.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/gemm/epilogue.hpp>
#include <dimwise/kernels/gemm/pack.hpp>
#include <dimwise/kernels/gemm/tile.hpp>
#include <dimwise/kernels/rows/carried_sum.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>
#include <type_traits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

// The rows and columns of C that one task owns.
struct block_range {
  std::size_t row_begin;
  std::size_t row_end;
  std::size_t column_begin;
  std::size_t column_end;
};

// The source of the panels of B.
enum class panel_source {
  packed,    // packed by the caller: `b.data` is the packed buffer
  copied,    // packed into scratch, panel by panel, just before use
  in_place,  // unit column stride, and few rows or a small B: reading it in place costs less than packing
};

// A product without its C.
template <class Arch>
struct product {
  std::size_t n;
  std::size_t k;
  const_matrix<Arch> a;
  const_matrix<Arch> b;
};

// A panel of one block of k.
template <class Arch>
struct panel {
  const element_of<Arch>* data;
  std::ptrdiff_t step;
  std::size_t columns;
  std::size_t registers;
  bool masked;
};

// Applies the epilogue to the sums of a tile in scratch and writes them to C.
template <class Arch, class Epilogue>
[[gnu::always_inline]] inline void write_tile(const element_of<Arch>* sums, std::size_t rows, std::size_t columns,
                                              std::size_t registers, const strided_matrix<element_of<Arch>>& c,
                                              std::size_t row, std::size_t column, const Epilogue& epilogue) noexcept {
  // A separate loop for whole registers of contiguous columns: in a small product this is a third of the work.
  const std::size_t whole = c.column_stride == 1 ? columns / lanes<Arch> * lanes<Arch> : 0;
  for (std::size_t r = 0; r < rows; ++r, sums += registers * lanes<Arch>) {
    element_of<Arch>* to = c.at(row + r, column);
    for (std::size_t j = 0; j < whole; j += lanes<Arch>) {
      store<Arch>(to + j, epilogue(load<Arch>(sums + j), row + r, column + j, lanes<Arch>));
    }
    for (std::size_t j = whole; j < columns; j += lanes<Arch>) {
      const std::size_t count = min(lanes<Arch>, columns - j);
      store_columns<Arch>(to + static_cast<std::ptrdiff_t>(j) * c.column_stride, c.column_stride, count,
                          epilogue(load<Arch>(sums + j), row + r, column + j, count));
    }
  }
}

// The destination of a product: C, and a pointer to the epilogue. Blocks are therefore compiled once, not once per
// epilogue. A tile that waits for its epilogue is in the L1 cache, which costs a hundredth of its time.
template <class Arch>
struct destination {
  using writer = void (*)(const element_of<Arch>* sums, std::size_t rows, std::size_t columns, std::size_t registers,
                          const destination<Arch>& to, std::size_t row, std::size_t column) noexcept;
  strided_matrix<element_of<Arch>> c;
  writer write;
  const void* epilogue;
  bool direct;                   // tiles write C themselves: no epilogue but `onto` or `bias`
  bool onto;                     // the sums start at the elements of C
  const element_of<Arch>* bias;  // added to every row of C; null: nothing
  bool reads_c;                  // the epilogue reads C, so that sums of a part of k do not wait there
};

template <class Arch, class Epilogue>
[[gnu::noinline]] void write_sums(const element_of<Arch>* sums, std::size_t rows, std::size_t columns,
                                  std::size_t registers, const destination<Arch>& to, std::size_t row,
                                  std::size_t column) noexcept {
  write_tile<Arch>(sums, rows, columns, registers, to.c, row, column, *static_cast<const Epilogue*>(to.epilogue));
}

inline constexpr keep keep_always;  // outlives every destination
template <class Arch, class Epilogue>
[[nodiscard, gnu::always_inline]] inline destination<Arch> destination_of(const strided_matrix<element_of<Arch>>& c,
                                                                          const Epilogue& epilogue) noexcept {
  if constexpr (std::is_same_v<Epilogue, keep_or_add<element_of<Arch>>>) {
    return epilogue.adds ? destination_of<Arch>(c, epilogue.sum) : destination_of<Arch>(c, keep_always);
  } else {
    constexpr bool onto = std::is_same_v<Epilogue, added_to<element_of<Arch>>>;
    const element_of<Arch>* bias = nullptr;
    bool reads_c = !onto;
    if constexpr (requires { epilogue.only_bias(); }) bias = epilogue.only_bias();
    if constexpr (!onto && requires { epilogue.reads(c.data); }) reads_c = epilogue.reads(c.data);
    const bool direct = onto || std::is_same_v<Epilogue, keep> || bias != nullptr;
    return {c, &write_sums<Arch, Epilogue>, &epilogue, direct, onto, bias, reads_c};
  }
}

template <class Arch, panel_source Source>
[[gnu::always_inline]] inline panel<Arch> panel_of(const product<Arch>& p, std::size_t begin, std::size_t extent,
                                                   std::size_t column, element_of<Arch>* scratch) noexcept {
  const std::size_t columns = min(gemm_tile<Arch>::columns, p.n - column);
  const std::size_t width = padded_columns<Arch>(columns);
  panel<Arch> out{nullptr, static_cast<std::ptrdiff_t>(width), columns, width / lanes<Arch>, false};
  if constexpr (Source == panel_source::packed) {
    out.data = p.b.data + packed_offset<Arch>(p.n, begin, extent, column);
  } else {
    static_assert(Source == panel_source::in_place || Source == panel_source::copied,
                  "dimwise: a panel of this source is read by nothing");
    // Without masked loads the partial panel is packed as well.
    if (Source == panel_source::in_place && (has_tails<Arch> || columns == width)) {
      out.data = p.b.at(begin, column);
      out.step = p.b.row_stride;
      out.masked = columns != width;
    } else {
      pack_panel<Arch>(extent, columns, {p.b.at(begin, column), p.b.row_stride, p.b.column_stride}, scratch, width);
      out.data = scratch;
    }
  }
  return out;
}

// Computes the sums of up to a tile of rows.
template <class Arch>
[[gnu::always_inline]] inline void sum_tile(tile_input<Arch> in, const panel<Arch>& b, std::size_t rows,
                                            const element_of<Arch>* from, std::ptrdiff_t from_step,
                                            const element_of<Arch>* bias, element_of<Arch>* to,
                                            std::ptrdiff_t to_step) noexcept {
  while (rows > 0) {
    const std::size_t now = row_step<Arch>(rows);
    if (free_tails<Arch> || b.masked) {
      if constexpr (has_tails<Arch>) tile_for<Arch, true>(now, b.registers)(in, from, from_step, bias, to, to_step);
    } else {
      if constexpr (!free_tails<Arch>) tile_for<Arch, false>(now, b.registers)(in, from, from_step, bias, to, to_step);
    }
    rows -= now;
    in.a += static_cast<std::ptrdiff_t>(now) * in.a_row;
    if (from != nullptr) from += static_cast<std::ptrdiff_t>(now) * from_step;
    to += static_cast<std::ptrdiff_t>(now) * to_step;
  }
}

inline constexpr std::size_t depth_group = 32;  // blocks of k whose sums are added without a carry

// The levels of the sums: more than one if they are carried.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr std::size_t sum_levels(std::size_t k) noexcept {
  return carried_rows::levels(ceil_div(ceil_div(k, gemm_tile<Arch>::depth), depth_group));
}

// The scratch layout of a block, in elements: a panel of B, then the sums of the tiles, level after level.
struct block_scratch {
  std::size_t sums;
  std::size_t tile_sums;  // from the sums of one tile to those of the next; 0 when no sum has to wait
  std::size_t level;      // all sums of a level
  std::size_t levels;     // more than one if sums are carried
  std::size_t elements;
};

template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr block_scratch block_scratch_of(std::size_t rows, std::size_t k) noexcept {
  using tile = gemm_tile<Arch>;
  const std::size_t one = tile::rows * tile::columns;
  const std::size_t panel = tile::columns * min(k, tile::depth);
  const bool waits = k > tile::depth;
  const std::size_t level = (waits ? ceil_div(rows, tile::rows) : 1) * one;
  const std::size_t levels = sum_levels<Arch>(k);
  return {panel, waits ? one : 0, level, levels, panel + levels * level};
}

// Rows of B that the next block of k will pack: prefetched into the L2 cache a few at a time while the tiles compute,
// since no hardware prefetcher follows rows that are pages apart.
template <class Arch>
struct upcoming_rows {
  const element_of<Arch>* data;
  std::ptrdiff_t step;
  std::size_t count;
  std::size_t columns;

  [[gnu::always_inline]] void fetch(std::size_t rows) noexcept {
    for (; rows > 0 && count > 0; --rows, --count, data += step) {
      for (std::size_t j = 0; j < columns; j += 64 / sizeof(element_of<Arch>)) __builtin_prefetch(data + j, 0, 2);
    }
  }
};

// One block of k of a product: the parameters that change from pass to pass.
template <class Arch>
struct pass {
  const_matrix<Arch> a;  // from the first row of the block of C and the first number of the block of k
  std::size_t extent;
  bool first;
  bool last;
  bool in_scratch;  // the sums begin and end in scratch, whatever C is
};

// Computes all tiles of one panel and one block of k.
template <class Arch>
[[gnu::always_inline]] inline void pass_over_rows(const pass<Arch>& now, const panel<Arch>& b, const block_range& range,
                                                  std::size_t column, element_of<Arch>* sums, std::size_t tile_sums,
                                                  const destination<Arch>& to, upcoming_rows<Arch> next) noexcept {
  using tile = gemm_tile<Arch>;
  const std::size_t share = ceil_div(next.count, ceil_div(range.row_end - range.row_begin, tile::rows));
  const auto step = static_cast<std::ptrdiff_t>(b.registers * lanes<Arch>);
  const bool whole = free_tails<Arch> || b.masked || b.columns == b.registers * lanes<Arch>;
  const bool direct = to.direct && to.c.column_stride == 1 && whole && !now.in_scratch;
  const bool into_c = now.last && direct;
  const bool from_c = now.first && direct && to.onto;
  for (std::size_t row = range.row_begin; row < range.row_end; row += tile::rows, sums += tile_sums) {
    const std::size_t rows = min(tile::rows, range.row_end - row);
    const tile_input<Arch> in{
        now.extent, now.a.at(row - range.row_begin, 0),         now.a.row_stride, now.a.column_stride, b.data,
        b.step,     b.columns - (b.registers - 1) * lanes<Arch>};
    next.fetch(share);
    element_of<Arch>* const c = to.c.at(row, column);
    sum_tile<Arch>(in, b, rows,
                   from_c      ? c
                   : now.first ? nullptr
                               : sums,
                   from_c ? to.c.row_stride : step, into_c && to.bias != nullptr ? to.bias + column : nullptr,
                   into_c ? c : sums, into_c ? to.c.row_stride : step);
    if (now.last && !into_c) to.write(sums, rows, b.columns, b.registers, to, row, column);
  }
}

// The rows of B that a pass over this block of k and this panel packs.
template <class Arch, panel_source Source>
[[gnu::always_inline]] inline upcoming_rows<Arch> upcoming(const product<Arch>& p, const depth_blocks<Arch>& blocks,
                                                           std::size_t block, std::size_t column,
                                                           std::size_t column_end) noexcept {
  if (Source != panel_source::copied || p.b.column_stride != 1 || column >= column_end) return {nullptr, 0, 0, 0};
  return {p.b.at(blocks.begin(block), column), p.b.row_stride, blocks.extent(block),
          min(gemm_tile<Arch>::columns, column_end - column)};
}

// C[range] = epilogue(A B), panel after panel, each over all blocks of k.
template <class Arch, panel_source Source>
void multiply_rows(const product<Arch>& p, const block_range& range, const destination<Arch>& to,
                   element_of<Arch>* scratch) noexcept {
  constexpr std::size_t width = gemm_tile<Arch>::columns;
  const depth_blocks<Arch> blocks(p.k);
  const block_scratch at = block_scratch_of<Arch>(range.row_end - range.row_begin, p.k);
  const typename carried_rows_of<element_of<Arch>>::adder add = [](std::size_t n, element_of<Arch>* sum,
                                                                   const element_of<Arch>* x) {
    for (std::size_t i = 0; i < n; i += lanes<Arch>) store<Arch>(sum + i, load<Arch>(sum + i) + load<Arch>(x + i));
  };
  const bool carries = at.levels > 1;
  for (std::size_t column = range.column_begin; column < range.column_end; column += width) {
    carried_rows_of<element_of<Arch>> carried(carries ? at.level : 0, at.level, at.levels, scratch + at.sums);
    for (std::size_t block = 0; block < blocks.count; ++block) {
      if (carries && block > 0 && block % depth_group == 0) carried.carry(add);
      const std::size_t begin = blocks.begin(block);
      const std::size_t extent = blocks.extent(block);
      const pass<Arch> now{{p.a.at(range.row_begin, begin), p.a.row_stride, p.a.column_stride},
                           extent,
                           block == 0,
                           block + 1 == blocks.count && !carries,
                           carries};
      const panel<Arch> b = panel_of<Arch, Source>(p, begin, extent, column, scratch);
      const bool goes_on = block + 1 < blocks.count;
      pass_over_rows<Arch>(now, b, range, column, scratch + at.sums, at.tile_sums, to,
                           upcoming<Arch, Source>(p, blocks, goes_on ? block + 1 : 0, goes_on ? column : column + width,
                                                  range.column_end));
    }
    if (!carries) continue;
    carried.finish(add);
    const element_of<Arch>* tile = carried.row();
    const std::size_t columns = min(width, p.n - column);
    for (std::size_t row = range.row_begin; row < range.row_end; row += gemm_tile<Arch>::rows, tile += at.tile_sums) {
      to.write(tile, min(gemm_tile<Arch>::rows, range.row_end - row), columns,
               padded_columns<Arch>(columns) / lanes<Arch>, to, row, column);
    }
  }
}

// C = A B for a B in the L1 cache that one pass suffices for. Skips packing and planning, which would cost as much as a
// product of a few hundred elements. Returns false if it does not apply.
template <class Arch>
[[nodiscard]] bool multiply_small(std::size_t m, const product<Arch>& p,
                                  const strided_matrix<element_of<Arch>>& c) noexcept {
  if (p.b.column_stride != 1 || c.column_stride != 1 || p.k > gemm_tile<Arch>::depth) return false;
  if (!has_tails<Arch> && p.n % lanes<Arch> != 0) return false;
  for (std::size_t column = 0; column < p.n; column += gemm_tile<Arch>::columns) {
    const std::size_t columns = min(gemm_tile<Arch>::columns, p.n - column);
    const std::size_t width = padded_columns<Arch>(columns);
    const panel<Arch> b{p.b.at(0, column), p.b.row_stride, columns, width / lanes<Arch>, columns != width};
    tile_input<Arch> in{
        p.k, p.a.data, p.a.row_stride, p.a.column_stride, b.data, b.step, columns - (b.registers - 1) * lanes<Arch>};
    for (std::size_t row = 0; row < m; row += gemm_tile<Arch>::rows) {
      in.a = p.a.at(row, 0);
      sum_tile<Arch>(in, b, min(gemm_tile<Arch>::rows, m - row), nullptr, 0, nullptr, c.at(row, column), c.row_stride);
    }
  }
  return true;
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
