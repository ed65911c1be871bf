// dimwise/kernels/gemm_thin.hpp -- products with at most five rows or columns: bound by reading the other matrix once.
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

#include <dimwise/kernels/gemm_block.hpp>
#include <dimwise/kernels/gemm_tile.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>
#include <utility>

namespace dimwise::kernels::detail {

inline constexpr std::size_t thin_rows = 5;         // at most so many rows (or columns) make a product thin
inline constexpr std::size_t stream_columns = 512;  // 5 rows of sums fill 10 KB; each row of B is read 2 KB at a time
inline constexpr std::size_t dot_extent = 64;       // rows or columns of a block of dot products

// sums[r][j] += sum over `Steps` rows of B, for all columns of the block. `width` is the row stride of sums.
template <class Arch, std::size_t Rows, std::size_t Steps>
[[gnu::noinline]] void stream_steps(const strided_matrix<const float>& a, const float* b, std::ptrdiff_t b_row,
                                    std::size_t columns, float* sums, std::size_t width) noexcept {
  floats<Arch> number[Rows * Steps];
  unroll<Rows * Steps>([&](auto i) __attribute__((always_inline)) {
    number[i] = broadcast<Arch>(*a.at(i / Steps, i % Steps));
  });
  for (std::size_t j = 0; j < columns; j += lanes<Arch>) {
    const std::size_t count = smaller(lanes<Arch>, columns - j);
    floats<Arch> row[Steps];
    unroll<Steps>([&](auto s) __attribute__((always_inline)) {
      const float* from = b + static_cast<std::ptrdiff_t>(s) * b_row + j;
      row[s] = count == lanes<Arch> ? load<Arch>(from) : load_partial<Arch>(from, count);
    });
    unroll<Rows>([&](auto r) __attribute__((always_inline)) {
      floats<Arch> sum = load<Arch>(sums + r * width + j);
      unroll<Steps>([&](auto s)
                        __attribute__((always_inline)) { sum = fma<Arch>(number[r * Steps + s], row[s], sum); });
      store<Arch>(sums + r * width + j, sum);
    });
  }
}

// The block of C with `Rows` rows: sums in scratch, B read row by row.
template <class Arch, std::size_t Rows>
void stream_rows(const product& p, std::size_t column, std::size_t columns, float* sums, std::size_t width) noexcept {
  constexpr std::size_t steps = Rows == 1 || gemm_tile<Arch>::many_registers ? 4 : 2;
  for (std::size_t i = 0; i < Rows * width; i += lanes<Arch>) store<Arch>(sums + i, broadcast<Arch>(0.0F));
  std::size_t at = 0;
  for (; at + steps <= p.k; at += steps) {
    const strided_matrix<const float> a{p.a.at(0, at), p.a.row_stride, p.a.column_stride};
    stream_steps<Arch, Rows, steps>(a, p.b.at(at, column), p.b.row_stride, columns, sums, width);
  }
  for (; at < p.k; ++at) {
    const strided_matrix<const float> a{p.a.at(0, at), p.a.row_stride, p.a.column_stride};
    stream_steps<Arch, Rows, 1>(a, p.b.at(at, column), p.b.row_stride, columns, sums, width);
  }
}

using stream_function = void (*)(const product&, std::size_t, std::size_t, float*, std::size_t) noexcept;

template <class Arch, std::size_t... Index>
constexpr stream_function stream_for(std::size_t rows, std::index_sequence<Index...>) noexcept {
  constexpr stream_function table[] = {&stream_rows<Arch, Index + 1>...};
  return table[rows - 1];
}

// C[range] = epilogue(A B) for unit column stride of B, at most `thin_rows` rows and `stream_columns` columns.
template <class Arch, class Epilogue>
void stream_block(const product& p, const block_range& range, const strided_matrix<float>& c, const Epilogue& epilogue,
                  float* scratch) noexcept {
  const std::size_t rows = range.row_end - range.row_begin;
  const std::size_t columns = range.column_end - range.column_begin;
  const std::size_t width = padded_columns<Arch>(columns);
  const product below{p.n, p.k, {p.a.at(range.row_begin, 0), p.a.row_stride, p.a.column_stride}, p.b};
  stream_for<Arch>(rows, std::make_index_sequence<thin_rows>{})(below, range.column_begin, columns, scratch, width);
  write_tile<Arch>(scratch, rows, columns, width / lanes<Arch>, c, range.row_begin, range.column_begin, epilogue);
}

// out[r * width + j] = dot(a row r, b column j). Lanes run along k.
template <class Arch, std::size_t Rows, std::size_t Columns>
[[gnu::noinline]] void dot_tile(std::size_t k, const float* a, std::ptrdiff_t a_row, const float* b,
                                std::ptrdiff_t b_column, float* out, std::size_t width) noexcept {
  floats<Arch> acc[Rows * Columns];
  unroll<Rows * Columns>([&](auto i) __attribute__((always_inline)) { acc[i] = broadcast<Arch>(0.0F); });
  for (std::size_t at = 0; at < k; at += lanes<Arch>) {
    const std::size_t count = smaller(lanes<Arch>, k - at);
    const auto read = [&](const float* from) __attribute__((always_inline)) {
      return count == lanes<Arch> ? load<Arch>(from + at) : load_partial<Arch>(from + at, count);
    };
    floats<Arch> column[Columns];
    unroll<Columns>([&](auto j) __attribute__((always_inline)) {
      column[j] = read(b + static_cast<std::ptrdiff_t>(j) * b_column);
    });
    unroll<Rows>([&](auto r) __attribute__((always_inline)) {
      const floats<Arch> row = read(a + static_cast<std::ptrdiff_t>(r) * a_row);
      unroll<Columns>([&](auto j) __attribute__((always_inline)) {
        acc[r * Columns + j] = fma<Arch>(row, column[j], acc[r * Columns + j]);
      });
    });
  }
  unroll<Rows * Columns>([&](auto i) __attribute__((always_inline)) {
    out[i / Columns * width + i % Columns] = reduce_sum<Arch>(acc[i]);
  });
}

using dot_function = void (*)(std::size_t, const float*, std::ptrdiff_t, const float*, std::ptrdiff_t, float*,
                              std::size_t) noexcept;

template <class Arch, std::size_t Columns, std::size_t... Index>
constexpr dot_function dot_for(std::size_t rows, std::index_sequence<Index...>) noexcept {
  constexpr dot_function table[] = {&dot_tile<Arch, Index + 1, Columns>...};
  return table[rows - 1];
}

// C[range] = epilogue(A B) where k is contiguous in A and in B; at most `dot_extent` rows and columns.
template <class Arch, class Epilogue>
void dot_block(const product& p, const block_range& range, const strided_matrix<float>& c, const Epilogue& epilogue,
               float* scratch) noexcept {
  constexpr std::size_t wide = gemm_tile<Arch>::many_registers ? 4 : 2;
  constexpr std::make_index_sequence<thin_rows> all{};
  const std::size_t columns = range.column_end - range.column_begin;
  const std::size_t width = padded_columns<Arch>(columns);
  for (std::size_t row = range.row_begin; row < range.row_end; row += thin_rows) {
    const std::size_t rows = smaller(thin_rows, range.row_end - row);
    std::size_t j = 0;
    for (; j + wide <= columns; j += wide) {
      dot_for<Arch, wide>(rows, all)(p.k, p.a.at(row, 0), p.a.row_stride, p.b.at(0, range.column_begin + j),
                                     p.b.column_stride, scratch + j, width);
    }
    for (; j < columns; ++j) {
      dot_for<Arch, 1>(rows, all)(p.k, p.a.at(row, 0), p.a.row_stride, p.b.at(0, range.column_begin + j),
                                  p.b.column_stride, scratch + j, width);
    }
    write_tile<Arch>(scratch, rows, columns, width / lanes<Arch>, c, row, range.column_begin, epilogue);
  }
}

// Floats of scratch for either.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr std::size_t thin_scratch(std::size_t m, std::size_t n) noexcept {
  if (m > thin_rows && n > thin_rows) return 0;
  return smaller(m, thin_rows) * padded_columns<Arch>(smaller(n, stream_columns));
}

}  // namespace dimwise::kernels::detail
