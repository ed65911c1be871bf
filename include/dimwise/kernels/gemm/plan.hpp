// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/gemm/plan.hpp -- the path of a product and its grid of tasks, from its extents and strides.
//
// Layer: kernels. Tasks and block sizes decide when an element is read, never the order of additions.
// Tests: tests/kernels/gemm/product.test.cpp
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/gemm/block.hpp>
#include <dimwise/kernels/gemm/pack_rows.hpp>
#include <dimwise/kernels/gemm/thin.hpp>
#include <dimwise/kernels/gemm/tile.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

/// C is `m` x `n`, A is `m` x `k`, B is `k` x `n`.
struct gemm_shape {
  std::size_t m;
  std::size_t n;
  std::size_t k;
};

/// The path of a product. Tests query it to detect an unexpected slow path.
enum class gemm_path {
  packed,    ///< tiles over a packed B
  copied,    ///< tiles; each panel of B is packed just before use
  in_place,  ///< tiles; B is read in place: few rows, or a small B
  streamed,  ///< at most four rows: B is read once, along its rows
  dots,      ///< at most four rows or columns, k contiguous in both operands
};

/// The path and the task grid of a product. Only a streamed product is also divided along k; the sums of its parts are
/// then joined.
struct gemm_plan {
  gemm_path path;
  std::size_t row_unit;
  std::size_t column_unit;
  std::size_t row_parts;
  std::size_t column_parts;
  std::size_t depth_parts = 1;

  [[nodiscard, gnu::always_inline]] constexpr std::size_t tasks() const noexcept {
    return row_parts * column_parts * depth_parts;
  }
};

namespace detail {

inline constexpr std::size_t copied_rows = 512;    // rows that share one packing of a panel
inline constexpr std::size_t packed_rows = 192;    // rows of A that stay in the L2 cache
inline constexpr std::size_t least_rows = 48;      // fewer do not amortise the panels that they read
inline constexpr std::size_t task_target = 16;     // parts to aim at, so that several threads stay busy
inline constexpr std::size_t task_work = 1 << 19;  // minimum multiply-adds of a part
template <class Arch>
inline constexpr std::size_t in_place_elements =
    16384 / sizeof(element_of<Arch>);             // such a B is in the L1 cache anyway
inline constexpr std::size_t in_place_tiles = 2;  // packing a panel costs about as much as reading it twice in place
inline constexpr std::size_t more_in_place_tiles = 8;  // a narrow panel whose rows use all sets of the L2 cache

// The rows of A up to which B is read in place. Rows of B that are a multiple of 2 KB apart share a few sets of a 512
// KB L2 cache, which does not hold a panel of them. On a Zen 4 core limited to AVX2 (share of the peak): 16 x 768 x
// 768 went from 69 to 85 % in place, 24 rows from 77 to 90 %, 32 from 77 to 83 %, 48 from 86 to 90 %; 64 would go from
// 87 to 82 %.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr std::size_t most_in_place_rows(std::ptrdiff_t row_stride) noexcept {
  const bool more = lanes<Arch> < 16 && row_stride * static_cast<std::ptrdiff_t>(sizeof(element_of<Arch>)) % 2048 != 0;
  return gemm_tile<Arch>::rows * (more ? more_in_place_tiles : in_place_tiles);
}

// The number of parts that a product of `work` multiply-adds justifies.
[[nodiscard, gnu::always_inline]] constexpr std::size_t worth_parts(const gemm_shape& s) noexcept {
  return max(1, min(task_target, s.m * s.n * max(1, s.k) / task_work));
}

// Divides rows into parts of at most `most` rows, then columns as far as the work justifies; if there are still too few
// parts (B is packed again for each), divides rows further, down to `least` rows.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr gemm_plan tile_plan(gemm_path path, const gemm_shape& s, std::size_t most,
                                                                std::size_t least) noexcept {
  using tile = gemm_tile<Arch>;
  gemm_plan plan{path, tile::rows, tile::columns, max(1, ceil_div(s.m, max(1, most))), 1};
  const std::size_t wanted = worth_parts(s);
  plan.column_parts = max(1, min(ceil_div(s.n, tile::columns), ceil_div(wanted, plan.row_parts)));
  if (plan.tasks() * 2 <= wanted) {
    plan.row_parts = max(plan.row_parts, min(ceil_div(s.m, max(1, least)), ceil_div(wanted, plan.column_parts)));
  }
  return plan;
}

// The grid of tasks that pack their rows of A as well as their columns of B: the one that packs least. One worker
// divides nothing.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr gemm_plan packed_rows_plan(gemm_path path, const gemm_shape& s,
                                                                       std::size_t least_panels,
                                                                       std::size_t workers) noexcept {
  using tile = gemm_tile<Arch>;
  gemm_plan plan{path, tile::rows, tile::columns, 1, 1};
  const std::size_t wanted = workers <= 1 ? 1 : worth_parts(s);
  const std::size_t most_rows = max(1, s.m / (lanes<Arch> < 16 ? least_rows : packed_a_rows + tile::rows));
  const std::size_t most_columns = max(1, ceil_div(s.n, tile::columns) / least_panels);
  plan.row_parts = min(wanted, most_rows);
  plan.column_parts = min(ceil_div(wanted, plan.row_parts), most_columns);
  for (std::size_t columns = 1; columns <= min(wanted, most_columns); ++columns) {
    const std::size_t rows = min(ceil_div(wanted, columns), most_rows);
    const std::size_t tasks = min(wanted, rows * columns);
    const std::size_t tasks_before = min(wanted, plan.tasks());
    const bool packs_less = columns * s.m + rows * s.n < plan.column_parts * s.m + plan.row_parts * s.n;
    if (tasks > tasks_before || (tasks == tasks_before && packs_less)) {
      plan.row_parts = rows;
      plan.column_parts = columns;
    }
  }
  return plan;
}

// The plan of tiles over panels that are packed.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr gemm_plan panels_plan(gemm_path path, const gemm_shape& s,
                                                                  const const_matrix<Arch>& a, std::size_t most,
                                                                  std::size_t workers) noexcept {
  return packs_a<Arch>(a, s.m, s.n) ? packed_rows_plan<Arch>(path, s, least_packed_panels<Arch>(a), workers)
                                    : tile_plan<Arch>(path, s, most, least_rows);
}

// Blocks of dot products along an extent: few, but as many as reading the larger matrix justifies.
[[nodiscard, gnu::always_inline]] constexpr std::size_t dot_parts(std::size_t extent, const gemm_shape& s) noexcept {
  return max(ceil_div(extent, most_dot_extent),
             min(ceil_div(extent, least_dot_extent), max(s.m, s.n) * s.k / stream_work));
}

// At most `thin_rows` rows: whole rows of B unless they are very long, then parts of k.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr gemm_plan stream_plan(const gemm_shape& s) noexcept {
  const std::size_t columns = ceil_div(s.n, stream_columns);
  const std::size_t wanted = max(1, min(stream_parts, s.k * s.n / stream_work));
  return {gemm_path::streamed, 1, lanes<Arch>, 1, columns, max(1, min(ceil_div(wanted, columns), s.k))};
}

// The stride of an extent of 1 is irrelevant: treat it as contiguous.
template <class T>
[[nodiscard, gnu::always_inline]] constexpr strided_matrix<const T> with_unit_strides(strided_matrix<const T> matrix,
                                                                                      std::size_t rows,
                                                                                      std::size_t columns) noexcept {
  if (columns == 1 && matrix.row_stride != 1) matrix.column_stride = 1;
  else if (rows == 1 && matrix.column_stride != 1) matrix.row_stride = 1;
  return matrix;
}

template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr gemm_plan plan_of(const gemm_shape& s, const const_matrix<Arch>& a,
                                                              const const_matrix<Arch>& b,
                                                              std::size_t workers) noexcept {
  const bool thin = s.m <= thin_rows || s.n <= thin_rows;
  if (thin && a.column_stride == 1 && b.row_stride == 1) {
    return {gemm_path::dots, 1, 1, dot_parts(s.m, s), dot_parts(s.n, s)};
  }
  if (b.column_stride == 1 && (s.m <= most_in_place_rows<Arch>(b.row_stride) || s.k * s.n <= in_place_elements<Arch>)) {
    if (s.m <= thin_rows && s.n >= gemm_tile<Arch>::columns) return stream_plan<Arch>(s);
    return tile_plan<Arch>(gemm_path::in_place, s, copied_rows, least_rows);
  }
  return panels_plan<Arch>(gemm_path::copied, s, a, copied_rows, workers);
}

// The range of C that `task` computes.
[[nodiscard, gnu::always_inline]] constexpr block_range range_of(const gemm_plan& plan, const gemm_shape& s,
                                                                 std::size_t task) noexcept {
  const std::size_t row = task / plan.column_parts;
  const std::size_t column = task % plan.column_parts;
  const std::size_t rows = ceil_div(s.m, plan.row_unit);
  const std::size_t columns = ceil_div(s.n, plan.column_unit);
  return {min(s.m, run_begin(rows, plan.row_parts, row) * plan.row_unit),
          min(s.m, run_begin(rows, plan.row_parts, row + 1) * plan.row_unit),
          min(s.n, run_begin(columns, plan.column_parts, column) * plan.column_unit),
          min(s.n, run_begin(columns, plan.column_parts, column + 1) * plan.column_unit)};
}

}  // namespace detail

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
