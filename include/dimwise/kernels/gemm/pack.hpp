// dimwise/kernels/gemm/pack.hpp -- packing of B into panels that the register tile reads in order.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only.
// Tests: tests/kernels/gemm/product.test.cpp
//
// k is divided into blocks of (at most) gemm_tile::depth rows; a block is divided into panels of gemm_tile::columns
// columns; a panel stores its rows one after another. The last panel has as many registers as it needs and is padded
// with zeros. Pack weights once and reuse them; the caller owns the buffer.
//
//   element_of<Arch>* packed = ...;                                   // packed_b_bytes<Arch>(k, n) bytes, aligned to
// 64
//   pack_b<Arch>(k, n, {weights, n, 1}, packed);
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/gemm/epilogue.hpp>
#include <dimwise/kernels/gemm/tile.hpp>
#include <dimwise/kernels/min_max.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail {

[[nodiscard, gnu::always_inline]] constexpr std::size_t ceil_div(std::size_t a, std::size_t b) noexcept {
  return (a + b - 1) / b;
}

// The start of run `part` if `count` elements are divided into `parts` runs whose lengths differ by at most one.
[[nodiscard, gnu::always_inline]] constexpr std::size_t run_begin(std::size_t count, std::size_t parts,
                                                                  std::size_t part) noexcept {
  return count / parts * part + min(part, count % parts);
}

// The blocks of k: equal extents except for the last, so that no block is very short. k = 0 is one empty block.
template <class Arch>
struct depth_blocks {
  std::size_t k;
  std::size_t step;
  std::size_t count;

  // Recomputes the count from the step: rounding the step up may save a block.
  [[gnu::always_inline]] constexpr explicit depth_blocks(std::size_t extent) noexcept
      : k(extent),
        step(max(1, ceil_div(extent, max(1, ceil_div(extent, gemm_tile<Arch>::depth))))),
        count(max(1, ceil_div(extent, step))) {}

  [[nodiscard, gnu::always_inline]] constexpr std::size_t begin(std::size_t block) const noexcept {
    return min(k, block * step);
  }
  [[nodiscard, gnu::always_inline]] constexpr std::size_t extent(std::size_t block) const noexcept {
    return begin(block + 1) - begin(block);
  }
};

// The stored columns of B: whole registers.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr std::size_t padded_columns(std::size_t n) noexcept {
  return ceil_div(n, lanes<Arch>) * lanes<Arch>;
}

// The offset of the panel of column `column` (a multiple of the panel width) in a block of `extent` rows that starts at
// row `begin`.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr std::size_t packed_offset(std::size_t n, std::size_t begin,
                                                                      std::size_t extent, std::size_t column) noexcept {
  return begin * padded_columns<Arch>(n) + column * extent;
}

// B with unit row stride: columns are contiguous, so squares are transposed in registers.
template <class Arch>
[[gnu::noinline]] void pack_turned(std::size_t depth, std::size_t columns, const element_of<Arch>* b,
                                   std::ptrdiff_t column_stride, element_of<Arch>* to, std::size_t width) noexcept {
  constexpr std::size_t n = lanes<Arch>;
  for (std::size_t j = 0; j < columns; j += n) {
    const std::size_t count = min(n, columns - j);
    for (std::size_t p = 0; p < depth; p += n) {
      const std::size_t rows = min(n, depth - p);
      floats<Arch> square[n];
      for (std::size_t i = 0; i < n; ++i) {
        const element_of<Arch>* from = b + static_cast<std::ptrdiff_t>(j + i) * column_stride + p;
        if (i >= count) square[i] = broadcast<Arch>(0.0F);
        else square[i] = rows == n ? load<Arch>(from) : load_partial<Arch>(from, rows);
      }
      transpose<Arch>(square);
      for (std::size_t i = 0; i < rows; ++i) store<Arch>(to + (p + i) * width + j, square[i]);
    }
  }
}

// Packs one panel: `depth` rows of `columns` elements, `width` apart.
template <class Arch>
[[gnu::noinline]] void pack_panel(std::size_t depth, std::size_t columns, const_matrix<Arch> b, element_of<Arch>* to,
                                  std::size_t width) noexcept {
  if (b.row_stride == 1 && b.column_stride != 1) {
    return pack_turned<Arch>(depth, columns, b.data, b.column_stride, to, width);
  }
  // Rows of B are usually about a page apart, which hardware prefetchers do not follow.
  constexpr std::ptrdiff_t ahead = 8;
  for (std::size_t p = 0; p < depth; ++p) {
    const element_of<Arch>* from = b.at(p, 0);
    for (std::size_t j = 0; j < width; j += lanes<Arch>) {
      __builtin_prefetch(from + ahead * b.row_stride + static_cast<std::ptrdiff_t>(j));
      const std::size_t count = j < columns ? min(lanes<Arch>, columns - j) : 0;
      const element_of<Arch>* at = from + static_cast<std::ptrdiff_t>(j) * b.column_stride;
      store<Arch>(to + p * width + j, load_columns<Arch>(at, b.column_stride, count));
    }
  }
}

}  // namespace detail

/// The size in bytes of a packed `k` x `n` matrix; 0 if either extent is 0.
template <class Arch = default_arch>
[[nodiscard]] constexpr std::size_t packed_b_bytes(std::size_t k, std::size_t n) noexcept {
  return k * detail::padded_columns<Arch>(n) * sizeof(element_of<Arch>);
}

/// Packs `b` (`k` x `n`, any strides) for `gemm_packed`, panel after panel; `packed` is aligned to 64 bytes.
template <class Arch = default_arch>
void pack_b(std::size_t k, std::size_t n, const_matrix<Arch> b, element_of<Arch>* packed) noexcept {
  constexpr std::size_t wide = gemm_tile<Arch>::columns;
  const detail::depth_blocks<Arch> blocks(k);
  for (std::size_t block = 0; block < blocks.count; ++block) {
    const std::size_t begin = blocks.begin(block);
    const std::size_t extent = blocks.extent(block);
    for (std::size_t column = 0; column < n; column += wide) {
      const std::size_t columns = detail::min(wide, n - column);
      detail::pack_panel<Arch>(extent, columns, {b.at(begin, column), b.row_stride, b.column_stride},
                               packed + detail::packed_offset<Arch>(n, begin, extent, column),
                               detail::padded_columns<Arch>(columns));
    }
  }
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
