// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/gemm/pack_rows.hpp -- packing for packed_rows.hpp: when rows of A are packed, and where operands are
// in scratch.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only.
// Tests: tests/kernels/gemm/product.test.cpp
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/gemm/block.hpp>
#include <dimwise/kernels/gemm/pack.hpp>
#include <dimwise/kernels/gemm/tile.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>
#include <limits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

// Rows of A that are packed at once: with depth 384 they take less than half of a 512 KB L2 cache. 96 to 288 rows and
// 512 to 3072 columns differ by less than two runs of the same sizes, so the sizes are not those of the machine's
// caches.
inline constexpr std::size_t packed_a_rows = 144;  // a multiple of the heights of all tiles
// Columns that share one packing of A.
inline constexpr std::size_t packed_a_columns = 1024;
// Panels that are packed at once: their rows are whole runs of cache lines, which hardware prefetchers follow.
inline constexpr std::size_t panels_at_once = 4;
// Sums that wait in scratch because C cannot hold them.
inline constexpr std::size_t waiting_rows = 2 * packed_a_rows;
inline constexpr std::size_t waiting_elements = std::size_t{1} << 16;

// Tiles whose epilogue is applied at once: applied to each tile alone, its latency would not be hidden.
inline constexpr std::size_t written_tiles = 8;

// Panels of B that repay packing the rows of A; none where wide panels hide that A is read in place.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr std::size_t least_packed_panels(const const_matrix<Arch>& a) noexcept {
  if (a.column_stride != 1) return 4;
  return lanes<Arch> < 16 ? 8 : std::numeric_limits<std::size_t>::max();
}

// Whether a block of C packs its rows of A. Counts panels as the parts of a product do, so that a part decides as the
// whole product.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr bool packs_a(const const_matrix<Arch>& a, std::size_t rows,
                                                         std::size_t columns) noexcept {
  return rows > (lanes<Arch> < 16 ? 2 * gemm_tile<Arch>::rows : packed_a_rows) &&
         ceil_div(columns, gemm_tile<Arch>::columns) >= least_packed_panels<Arch>(a);
}

// The scratch layout of a block, in elements: panels of B, packed rows of A, some tiles, sums that wait.
struct packed_scratch {
  std::size_t slots;  // places for panels of B; a multiple of `panels_at_once`
  std::size_t a;
  std::size_t tile;
  std::size_t sums;
  std::size_t panel_sums;  // from the waiting sums of one panel to those of the next
  std::size_t level;       // all waiting sums of a level
  std::size_t elements;
};

template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr packed_scratch packed_scratch_of(std::size_t rows, std::size_t panels,
                                                                             std::size_t waiting_panels,
                                                                             std::size_t k) noexcept {
  using tile = gemm_tile<Arch>;
  const std::size_t depth = min(k, tile::depth);
  const std::size_t one = tile::rows * tile::columns;
  static_assert(packed_a_rows % tile::rows == 0);
  // Rows that are packed at once use a panel once.
  const std::size_t slots = rows <= packed_a_rows ? panels_at_once : ceil_div(panels, panels_at_once) * panels_at_once;
  const std::size_t b = slots * tile::columns * depth;
  // Rows of a tile are stored a register at a time, beyond the last element.
  const std::size_t a = ceil_div(ceil_div(min(rows, packed_a_rows), tile::rows) * tile::rows * depth, one) * one + one;
  const std::size_t of_panel = ceil_div(rows, tile::rows) * one;
  const std::size_t level = waiting_panels * of_panel;
  const std::size_t tiles = (written_tiles + 1) * one;
  return {slots, b, b + a, b + a + tiles, of_panel, level, b + a + tiles + level * sum_levels<Arch>(k)};
}

// Panels of B whose sums wait in scratch at once.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr std::size_t waiting_panels_of(std::size_t rows, std::size_t k) noexcept {
  const std::size_t one = ceil_div(rows, gemm_tile<Arch>::rows) * gemm_tile<Arch>::rows * gemm_tile<Arch>::columns;
  return max(1, waiting_elements / max(1, one * sum_levels<Arch>(k)));
}

// The elements of scratch for any block of at most `m` rows and `n` columns.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr std::size_t packed_rows_scratch(std::size_t m, std::size_t n,
                                                                            std::size_t k) noexcept {
  const std::size_t panels = ceil_div(min(n, packed_a_columns), gemm_tile<Arch>::columns);
  const packed_scratch at = packed_scratch_of<Arch>(min(m, waiting_rows), panels, 0, k);
  const std::size_t one = at.panel_sums * sum_levels<Arch>(k);
  return at.elements + min(panels * one, max(waiting_elements, one));
}

// Transposes `height` rows that are contiguous along k, a square of registers at a time.
template <class Arch>
[[gnu::always_inline]] inline void pack_contiguous_rows(std::size_t count, std::size_t extent,
                                                        const const_matrix<Arch>& a, element_of<Arch>* to) noexcept {
  constexpr std::size_t height = gemm_tile<Arch>::rows;
  constexpr std::size_t n = lanes<Arch>;
  static_assert(height <= n);
  for (std::size_t step = 0; step < extent; step += n) {
    const std::size_t steps = min(n, extent - step);
    floats<Arch> square[n];
    for (std::size_t r = 0; r < n; ++r) {
      if (r >= count) square[r] = broadcast<Arch>(0.0F);
      else square[r] = steps == n ? load<Arch>(a.at(r, step)) : load_partial<Arch>(a.at(r, step), steps);
    }
    transpose<Arch>(square);
    // Each store writes past its row of the tile; the next one overwrites that.
    for (std::size_t i = 0; i < steps; ++i) store<Arch>(to + (step + i) * height, square[i]);
  }
}

// Rows of A in tiles: [tile][k][row of the tile]; missing rows are zeros.
template <class Arch>
[[gnu::noinline]] void pack_rows(std::size_t rows, std::size_t extent, const_matrix<Arch> a,
                                 element_of<Arch>* to) noexcept {
  constexpr std::size_t height = gemm_tile<Arch>::rows;
  if constexpr (height <= lanes<Arch>) {
    if (a.column_stride == 1) {
      for (std::size_t row = 0; row < rows; row += height) {
        pack_contiguous_rows<Arch>(min(height, rows - row), extent, {a.at(row, 0), a.row_stride, 1}, to + row * extent);
      }
      return;
    }
  }
  // A few steps of k at a time, so that a line of A serves its tiles while it is in the L1 cache.
  constexpr std::size_t steps = 16;
  for (std::size_t begin = 0; begin < extent; begin += steps) {
    const std::size_t end = min(extent, begin + steps);
    for (std::size_t row = 0; row < rows; row += height) {
      const std::size_t count = min(height, rows - row);
      element_of<Arch>* at = to + row * extent + begin * height;
      std::size_t step = begin;
      if (a.row_stride == 1 && height <= lanes<Arch> && rows - row >= lanes<Arch>) {
        // Each store writes past its row of the tile; the next ones overwrite that. The last ones must not.
        constexpr std::size_t past = ceil_div(lanes<Arch>, height) - 1;
        for (; step < min(end, extent - min(extent, past)); ++step, at += height) {
          store<Arch>(at, load<Arch>(a.at(row, step)));
        }
      }
      for (; step < end; ++step, at += height) {
        const element_of<Arch>* const from = a.at(row, step);
        for (std::size_t r = 0; r < height; ++r) {
          at[r] = r < count ? from[static_cast<std::ptrdiff_t>(r) * a.row_stride] : element_of<Arch>(0);
        }
      }
    }
  }
}

// Packs some panels of B whose rows are contiguous, a row of all panels at a time.
template <class Arch>
[[gnu::noinline]] void pack_panels(std::size_t extent, std::size_t columns, const element_of<Arch>* b,
                                   std::ptrdiff_t row_stride, element_of<Arch>* to) noexcept {
  constexpr std::size_t width = gemm_tile<Arch>::columns;
  const std::size_t whole = columns / width;
  for (std::size_t row = 0; row < extent; ++row) {
    const element_of<Arch>* const from = b + static_cast<std::ptrdiff_t>(row) * row_stride;
    element_of<Arch>* at = to + row * width;
    for (std::size_t i = 0; i < whole; ++i, at += width * extent) {
#pragma GCC unroll 4
      for (std::size_t j = 0; j < width; j += lanes<Arch>) store<Arch>(at + j, load<Arch>(from + i * width + j));
    }
  }
  if (whole * width == columns) return;
  pack_panel<Arch>(extent, columns - whole * width, {b + whole * width, row_stride, 1}, to + whole * width * extent,
                   padded_columns<Arch>(columns - whole * width));
}

// Packs the panel of `column`, or all that are packed at once with it, and returns what to prefetch meanwhile.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline upcoming_rows<Arch> pack_next(const const_matrix<Arch>& b, std::size_t extent,
                                                                       std::size_t index, std::size_t column,
                                                                       std::size_t end,
                                                                       element_of<Arch>* slot) noexcept {
  constexpr std::size_t width = gemm_tile<Arch>::columns;
  if (b.column_stride != 1) {
    const std::size_t columns = min(width, end - column);
    pack_panel<Arch>(extent, columns, {b.at(0, column), b.row_stride, b.column_stride}, slot,
                     padded_columns<Arch>(columns));
    const std::size_t next = column + columns;
    if (b.row_stride != 1 || next == end) return {nullptr, 0, 0, 0};
    return {b.at(0, next), b.column_stride, min(width, end - next), extent};
  }
  const std::size_t part = index % panels_at_once;
  if (part == 0) {
    pack_panels<Arch>(extent, min(panels_at_once * width, end - column), b.at(0, column), b.row_stride, slot);
  }
  // The rows of the next panels, a part of them with each panel of these.
  const std::size_t next = column + (panels_at_once - part) * width;
  if (next >= end) return {nullptr, 0, 0, 0};
  const std::size_t begin = run_begin(extent, panels_at_once, part);
  return {b.at(begin, next), b.row_stride, run_begin(extent, panels_at_once, part + 1) - begin,
          min(panels_at_once * width, end - next)};
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
