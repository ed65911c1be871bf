// dimwise/kernels/gemm_thin.hpp -- products with at most four rows or columns: bound by reading the other matrix once.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only.
// Tests: tests/kernels/gemm.test.cpp
//
// A register tile would walk down a panel and jump a whole row of B at each step, which no prefetcher follows. So B is
// read along its own unit stride: `stream_block` adds a few rows of B at a time to running sums of C, `dot_block` takes
// dot products where k is contiguous in both operands.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/configuration.hpp>
#include <dimwise/kernels/gemm_block.hpp>
#include <dimwise/kernels/gemm_tile.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>
#include <utility>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

inline constexpr std::size_t thin_rows = 4;         // at most so many rows (or columns) make a product thin
inline constexpr std::size_t stream_columns = 512;  // 4 rows of sums fill 8 KB; each row of B is read 2 KB at a time
inline constexpr std::size_t dot_extent = 64;       // rows or columns of a block of dot products

// Kernels are for 1, 2 or 4 rows: three are computed as four, the last one twice. B is what takes the time to read.
[[nodiscard, gnu::always_inline]] constexpr std::size_t thin_tile(std::size_t rows) noexcept {
  return rows <= 2 ? rows : thin_rows;
}

// sums[r][j] += sum over `Steps` rows of B, for all columns of the block. `width` is the row stride of sums.
template <class Arch, std::size_t Rows, std::size_t Steps>
[[gnu::noinline]] void stream_steps(const strided_matrix<const float>& a, std::size_t rows, const float* b,
                                    std::ptrdiff_t b_row, std::size_t columns, float* sums,
                                    std::size_t width) noexcept {
  floats<Arch> number[Rows][Steps];
#pragma GCC unroll 4
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (std::size_t s = 0; s < Steps; ++s) number[r][s] = broadcast<Arch>(*a.at(smaller(r, rows - 1), s));
  }
  for (std::size_t j = 0; j < columns; j += lanes<Arch>) {
    const std::size_t count = smaller(lanes<Arch>, columns - j);
    floats<Arch> row[Steps];
#pragma GCC unroll 4
    for (std::size_t s = 0; s < Steps; ++s) {
      const float* from = b + static_cast<std::ptrdiff_t>(s) * b_row + j;
      row[s] = count == lanes<Arch> ? load<Arch>(from) : load_partial<Arch>(from, count);
    }
#pragma GCC unroll 4
    for (std::size_t r = 0; r < Rows; ++r) {
      floats<Arch> sum = load<Arch>(sums + r * width + j);
#pragma GCC unroll 4
      for (std::size_t s = 0; s < Steps; ++s) sum = fma<Arch>(number[r][s], row[s], sum);
      store<Arch>(sums + r * width + j, sum);
    }
  }
}

// The block of C with `rows` rows, computed as `Rows`: sums in scratch, B read row by row.
template <class Arch, std::size_t Rows>
void stream_rows(const product& p, std::size_t rows, std::size_t column, std::size_t columns, float* sums,
                 std::size_t width) noexcept {
  constexpr std::size_t steps = Rows == 1 || gemm_tile<Arch>::many_registers ? 4 : 2;
  for (std::size_t i = 0; i < Rows * width; i += lanes<Arch>) store<Arch>(sums + i, broadcast<Arch>(0.0F));
  for (std::size_t at = 0; at < p.k;) {
    const strided_matrix<const float> a{p.a.at(0, at), p.a.row_stride, p.a.column_stride};
    const float* b = p.b.at(at, column);
    if (at + steps <= p.k) {
      stream_steps<Arch, Rows, steps>(a, rows, b, p.b.row_stride, columns, sums, width);
      at += steps;
    } else {
      stream_steps<Arch, Rows, 1>(a, rows, b, p.b.row_stride, columns, sums, width);
      ++at;
    }
  }
}

// C[range] = epilogue(A B) for unit column stride of B, at most `thin_rows` rows and `stream_columns` columns.
template <class Arch>
void stream_block(const product& p, const block_range& range, const destination& to, float* scratch) noexcept {
  const std::size_t rows = range.row_end - range.row_begin;
  const std::size_t columns = range.column_end - range.column_begin;
  const std::size_t width = padded_columns<Arch>(columns);
  const product below{p.n, p.k, {p.a.at(range.row_begin, 0), p.a.row_stride, p.a.column_stride}, p.b};
  const auto stream = rows == 1   ? &stream_rows<Arch, 1>
                      : rows == 2 ? &stream_rows<Arch, 2>
                                  : &stream_rows<Arch, thin_rows>;
  stream(below, rows, range.column_begin, columns, scratch, width);
  to.write(scratch, rows, columns, width / lanes<Arch>, to, range.row_begin, range.column_begin);
}

// Columns of a tile of dot products.
template <class Arch>
inline constexpr std::size_t dot_columns = gemm_tile<Arch>::many_registers ? 4 : 2;

// out[r * width + j] = dot(a row r, b column j). Lanes run along k. What a tile has more than `rows` and `columns` is
// the last one again.
template <class Arch, std::size_t Rows>
[[gnu::noinline]] void dot_tile(const product& p, std::size_t row, std::size_t rows, std::size_t column,
                                std::size_t columns, float* out, std::size_t width) noexcept {
  constexpr std::size_t wide = dot_columns<Arch>;
  const float* a[Rows];
  const float* b[wide];
  floats<Arch> acc[Rows][wide];
#pragma GCC unroll 4
  for (std::size_t r = 0; r < Rows; ++r) {
    a[r] = p.a.at(row + smaller(r, rows - 1), 0);
#pragma GCC unroll 4
    for (std::size_t j = 0; j < wide; ++j) acc[r][j] = broadcast<Arch>(0.0F);
  }
#pragma GCC unroll 4
  for (std::size_t j = 0; j < wide; ++j) b[j] = p.b.at(0, column + smaller(j, columns - 1));
  for (std::size_t at = 0; at < p.k; at += lanes<Arch>) {
    const std::size_t count = smaller(lanes<Arch>, p.k - at);
    const auto read = [&](const float* from) __attribute__((always_inline)) {
      return count == lanes<Arch> ? load<Arch>(from + at) : load_partial<Arch>(from + at, count);
    };
    floats<Arch> number[wide];
#pragma GCC unroll 4
    for (std::size_t j = 0; j < wide; ++j) number[j] = read(b[j]);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < Rows; ++r) {
      const floats<Arch> with = read(a[r]);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < wide; ++j) acc[r][j] = fma<Arch>(with, number[j], acc[r][j]);
    }
  }
#pragma GCC unroll 4
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (std::size_t j = 0; j < wide; ++j) out[r * width + j] = reduce_sum<Arch>(acc[r][j]);
  }
}

// C[range] = epilogue(A B) where k is contiguous in A and in B; at most `dot_extent` rows and columns.
template <class Arch>
void dot_block(const product& p, const block_range& range, const destination& to, float* scratch) noexcept {
  const std::size_t columns = range.column_end - range.column_begin;
  const std::size_t width = padded_columns<Arch>(columns);
  for (std::size_t row = range.row_begin; row < range.row_end; row += thin_rows) {
    const std::size_t rows = smaller(thin_rows, range.row_end - row);
    const auto tile = rows == 1 ? &dot_tile<Arch, 1> : rows == 2 ? &dot_tile<Arch, 2> : &dot_tile<Arch, thin_rows>;
    for (std::size_t j = 0; j < columns; j += dot_columns<Arch>) {
      tile(p, row, rows, range.column_begin + j, smaller(dot_columns<Arch>, columns - j), scratch + j, width);
    }
    to.write(scratch, rows, columns, width / lanes<Arch>, to, row, range.column_begin);
  }
}

// Floats of scratch for either.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr std::size_t thin_scratch(std::size_t m, std::size_t n) noexcept {
  if (m > thin_rows && n > thin_rows) return 0;
  return thin_tile(smaller(m, thin_rows)) * padded_columns<Arch>(smaller(n, stream_columns));
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
