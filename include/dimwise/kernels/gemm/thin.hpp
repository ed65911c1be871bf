// dimwise/kernels/gemm/thin.hpp -- products with at most four rows or columns, bound by reading the other matrix.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only.
// Tests: tests/kernels/gemm/product.test.cpp
//
// A register tile would step down a panel, a whole row of B apart, which no prefetcher follows. B is therefore read
// along its unit stride: `stream_part` adds a few rows of B at a time to running sums of C, `dot_block` computes dot
// products if k is contiguous in both operands.
//
// Version 1 read four adjacent rows at once, 2 KB of each. Version 2 reads four distant runs of whole rows, each from
// its first element to its last, which prefetchers follow. On a Zen 4 core whose memory provides 31 GB/s to a plain
// loop, products of 1 x 768 x 768 to 1 x 768 x 3072 went from 14-18 to 26-30 GB/s, dot products from 11-16 to 28-30.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/gemm/block.hpp>
#include <dimwise/kernels/gemm/tile.hpp>
#include <dimwise/kernels/rows/carried_sum.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

inline constexpr std::size_t thin_rows = 4;          // maximum rows (or columns) of a thin product
inline constexpr std::size_t stream_columns = 4096;  // columns of a part: sums of one row are half of an L1 cache
inline constexpr std::size_t stream_parts = 8;       // parts of k to aim at, so that several threads read
inline constexpr std::size_t stream_work = 1 << 17;  // numbers of B that are worth a part
inline constexpr std::size_t most_dot_extent = 256;  // rows or columns of a block of dot products
inline constexpr std::size_t least_dot_extent = 64;
inline constexpr std::size_t long_sum = 4096;   // so many terms of k are one sum
inline constexpr std::size_t sum_piece = 2048;  // of a longer one: pieces of k

// Kernels are for 1, 2 or 4 rows: three are computed as four, the last one twice. B is what takes the time to read.
[[nodiscard, gnu::always_inline]] constexpr std::size_t thin_tile(std::size_t rows) noexcept {
  return rows <= 2 ? max(1, rows) : thin_rows;
}

// sums[r][j] += sum over `Steps` rows of B, for all columns of the block. `width` is the row stride of sums.
template <class Arch, std::size_t Rows, std::size_t Steps>
[[gnu::noinline]] void stream_steps(const const_matrix<Arch>& a, std::size_t rows, const element_of<Arch>* b,
                                    std::ptrdiff_t b_row, std::size_t columns, element_of<Arch>* sums,
                                    std::size_t width) noexcept {
  floats<Arch> number[Rows][Steps];
#pragma GCC unroll 4
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (std::size_t s = 0; s < Steps; ++s) number[r][s] = broadcast<Arch>(*a.at(min(r, rows - 1), s));
  }
  for (std::size_t j = 0; j < columns; j += lanes<Arch>) {
    const std::size_t count = min(lanes<Arch>, columns - j);
    floats<Arch> row[Steps];
#pragma GCC unroll 4
    for (std::size_t s = 0; s < Steps; ++s) {
      const element_of<Arch>* from = b + static_cast<std::ptrdiff_t>(s) * b_row + j;
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

// The first of `parts` lists of sums, `step` elements from each other, becomes the sum of all.
template <class Arch>
void join_sums(element_of<Arch>* sums, std::size_t count, std::size_t parts, std::size_t step) noexcept {
  for (std::size_t part = 1; part < parts; ++part) {
    const element_of<Arch>* from = sums + part * step;
    for (std::size_t i = 0; i < count; i += lanes<Arch>) {
      store<Arch>(sums + i, load<Arch>(sums + i) + load<Arch>(from + i));
    }
  }
}

// sums = A B for some columns of B, `rows` rows computed as `Rows`.
template <class Arch, std::size_t Rows>
void stream_piece(const product<Arch>& p, std::size_t rows, std::size_t columns, element_of<Arch>* sums,
                  std::size_t width) noexcept {
  constexpr std::size_t runs = Rows == 1 || gemm_tile<Arch>::many_registers ? 4 : 2;
  const std::size_t run = p.k / runs;
  const auto apart = static_cast<std::ptrdiff_t>(run);
  for (std::size_t i = 0; i < Rows * width; i += lanes<Arch>) store<Arch>(sums + i, broadcast<Arch>(0.0F));
  for (std::size_t at = 0; at < run; ++at) {
    stream_steps<Arch, Rows, runs>({p.a.at(0, at), p.a.row_stride, apart * p.a.column_stride}, rows, p.b.at(at, 0),
                                   apart * p.b.row_stride, columns, sums, width);
  }
  for (std::size_t at = run * runs; at < p.k; ++at) {
    stream_steps<Arch, Rows, 1>({p.a.at(0, at), p.a.row_stride, p.a.column_stride}, rows, p.b.at(at, 0), p.b.row_stride,
                                columns, sums, width);
  }
}

// The same, by pieces of k where it is long, so that no digits are lost: their sums are added after `sums`.
template <class Arch, std::size_t Rows>
void stream_rows(const product<Arch>& p, std::size_t rows, std::size_t columns, element_of<Arch>* sums,
                 std::size_t width) noexcept {
  const std::size_t piece = p.k > long_sum ? sum_piece : p.k;
  stream_piece<Arch, Rows>({p.n, piece, p.a, p.b}, rows, columns, sums, width);
  if (piece == p.k) return;
  element_of<Arch>* const part = sums + Rows * width;
  for (std::size_t begin = piece; begin < p.k; begin += piece) {
    stream_piece<Arch, Rows>({p.n,
                              min(piece, p.k - begin),
                              {p.a.at(0, begin), p.a.row_stride, p.a.column_stride},
                              {p.b.at(begin, 0), p.b.row_stride, p.b.column_stride}},
                             rows, columns, part, width);
    join_sums<Arch>(sums, Rows * width, 2, Rows * width);
  }
}

// sums = A B for unit column stride of B, at most `thin_rows` rows, at most `stream_columns` columns.
template <class Arch>
void stream_part(const product<Arch>& p, std::size_t rows, std::size_t columns, element_of<Arch>* sums) noexcept {
  const auto stream = rows == 1   ? &stream_rows<Arch, 1>
                      : rows == 2 ? &stream_rows<Arch, 2>
                                  : &stream_rows<Arch, thin_rows>;
  stream(p, rows, columns, sums, padded_columns<Arch>(columns));
}

// C[range] = epilogue(A B), all of k at once.
template <class Arch>
void stream_block(const product<Arch>& p, const block_range& range, const destination<Arch>& to,
                  element_of<Arch>* scratch) noexcept {
  const std::size_t rows = range.row_end - range.row_begin;
  const std::size_t columns = range.column_end - range.column_begin;
  stream_part<Arch>({columns,
                     p.k,
                     {p.a.at(range.row_begin, 0), p.a.row_stride, p.a.column_stride},
                     {p.b.at(0, range.column_begin), p.b.row_stride, p.b.column_stride}},
                    rows, columns, scratch);
  to.write(scratch, rows, columns, padded_columns<Arch>(columns) / lanes<Arch>, to, range.row_begin,
           range.column_begin);
}

// Columns of a tile of dot products: at most those of a register, so that a padded row of sums has room for whole
// tiles.
template <class Arch>
inline constexpr std::size_t dot_columns = min(gemm_tile<Arch>::many_registers ? 4 : 2, lanes<Arch>);

// Dot products of some rows of a block of A with some columns of a block of B: `row` and `column`, and those that
// follow at steps of a whole run of the block. Lanes run along k. Beyond the block's last row or column, that one is
// taken again: `out` has room for it. `Long`: sums of pieces of k are carried, so that no digits are lost.
template <class Arch, std::size_t Rows, bool Long>
[[gnu::noinline]] void dot_tile(const product<Arch>& p, std::size_t row, std::size_t rows, std::size_t column,
                                std::size_t columns, element_of<Arch>* out, std::size_t width) noexcept {
  constexpr std::size_t wide = dot_columns<Arch>;
  const std::size_t row_run = ceil_div(rows, Rows);
  const std::size_t column_run = ceil_div(columns, wide);
  const element_of<Arch>* a[Rows];
  const element_of<Arch>* b[wide];
#pragma GCC unroll 4
  for (std::size_t r = 0; r < Rows; ++r) a[r] = p.a.at(min(row + r * row_run, rows - 1), 0);
#pragma GCC unroll 4
  for (std::size_t j = 0; j < wide; ++j) b[j] = p.b.at(0, min(column + j * column_run, columns - 1));
  // give(r, j, the sum over k in [begin, end))
  const auto sums_of = [&](std::size_t begin, std::size_t end, const auto& give) __attribute__((always_inline)) {
    floats<Arch> acc[Rows][wide];
#pragma GCC unroll 4
    for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
      for (std::size_t j = 0; j < wide; ++j) acc[r][j] = broadcast<Arch>(0.0F);
    }
    for (std::size_t at = begin; at < end; at += lanes<Arch>) {
      const std::size_t count = min(lanes<Arch>, end - at);
      const auto read = [&](const element_of<Arch>* from) __attribute__((always_inline)) {
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
      for (std::size_t j = 0; j < wide; ++j) give(r, j, reduce_sum<Arch>(acc[r][j]));
    }
  };
  const auto write = [&](std::size_t r, std::size_t j, element_of<Arch> sum) __attribute__((always_inline)) {
    out[(row + r * row_run) * width + column + j * column_run] = sum;
  };
  if constexpr (Long) {
    carried_sum<element_of<Arch>> totals[Rows][wide];
    for (std::size_t begin = 0; begin < p.k; begin += sum_piece) {
      sums_of(begin, min(begin + sum_piece, p.k),
              [&](std::size_t r, std::size_t j, element_of<Arch> sum) { totals[r][j] += sum; });
    }
    for (std::size_t r = 0; r < Rows; ++r) {
      for (std::size_t j = 0; j < wide; ++j) write(r, j, totals[r][j].value());
    }
  } else {
    sums_of(0, p.k, write);
  }
}

template <class Arch, bool Long>
[[nodiscard]] auto dot_tile_of(std::size_t rows) noexcept {
  return rows == 1 ? &dot_tile<Arch, 1, Long> : rows == 2 ? &dot_tile<Arch, 2, Long> : &dot_tile<Arch, thin_rows, Long>;
}

// C[range] = epilogue(A B) where k is contiguous in A and in B; at most `most_dot_extent` rows and columns.
template <class Arch>
void dot_block(const product<Arch>& p, const block_range& range, const destination<Arch>& to,
               element_of<Arch>* scratch) noexcept {
  const std::size_t rows = range.row_end - range.row_begin;
  const std::size_t columns = range.column_end - range.column_begin;
  const std::size_t width = padded_columns<Arch>(columns);
  const product<Arch> here{columns,
                           p.k,
                           {p.a.at(range.row_begin, 0), p.a.row_stride, p.a.column_stride},
                           {p.b.at(0, range.column_begin), p.b.row_stride, p.b.column_stride}};
  const auto tile = p.k > long_sum ? dot_tile_of<Arch, true>(rows) : dot_tile_of<Arch, false>(rows);
  for (std::size_t row = 0; row < ceil_div(rows, thin_tile(rows)); ++row) {
    for (std::size_t j = 0; j < ceil_div(columns, dot_columns<Arch>); ++j) {
      tile(here, row, rows, j, columns, scratch, width);
    }
  }
  to.write(scratch, rows, columns, width / lanes<Arch>, to, range.row_begin, range.column_begin);
}

// Elements of scratch of one worker for either.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr std::size_t thin_scratch(std::size_t m, std::size_t n) noexcept {
  if (m > thin_rows && n > thin_rows) return 0;
  const std::size_t rows = m <= thin_rows ? thin_tile(m) : min(ceil_div(m, thin_rows) * thin_rows, most_dot_extent);
  return rows * padded_columns<Arch>(min(n, m <= thin_rows ? stream_columns : n)) * (m <= thin_rows ? 2 : 1);
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
