// dimwise/kernels/gemm/product.hpp -- C = epilogue(A B) for matrices of any strides; B may be packed in advance.
//
// Layer: kernels. Includes: xsimd (through simd.hpp) and light standard headers only.
// Tests: tests/kernels/gemm/product.test.cpp. Benchmark: benchmarks/kernels/gemm.cpp
//
//   void* scratch = ...;                     // gemm_scratch_bytes<Arch>(shape, executor.worker_count()), aligned to 64
//   gemm<Arch>({m, n, k}, {a, k, 1}, {b, n, 1}, {c, n, 1}, scratch, chain(scaled{2}, column_bias{bias}));
//   gemm_packed<Arch>({m, n, k}, {a, k, 1}, packed, {c, n, 1}, scratch, activated{gelu_of{}}, executor);
//
// alpha and "+ C" are epilogues (`scaled`, `plus`). If m or n is 0, nothing is written; if k is 0, the epilogue of 0.
// Tasks and block sizes decide when an element is read, never the order in which its products are added: that order
// depends on the shape and the strides alone, so any executor gives the same bits. Strides matter to `C += A B` with
// several blocks of k alone: columns of C in a partial register are added first or last.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/executor.hpp>
#include <dimwise/kernels/gemm/block.hpp>
#include <dimwise/kernels/gemm/epilogue.hpp>
#include <dimwise/kernels/gemm/pack.hpp>
#include <dimwise/kernels/gemm/packed_rows.hpp>
#include <dimwise/kernels/gemm/thin.hpp>
#include <dimwise/kernels/gemm/tile.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>

// A value that a switch does not handle fails to compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"

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
  return larger(1, smaller(task_target, s.m * s.n * larger(1, s.k) / task_work));
}

// Divides rows into parts of at most `most` rows, then columns as far as the work justifies; if there are still too few
// parts (B is packed again for each), divides rows further, down to `least` rows.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr gemm_plan tile_plan(gemm_path path, const gemm_shape& s, std::size_t most,
                                                                std::size_t least) noexcept {
  using tile = gemm_tile<Arch>;
  gemm_plan plan{path, tile::rows, tile::columns, larger(1, ceil_div(s.m, larger(1, most))), 1};
  const std::size_t wanted = worth_parts(s);
  plan.column_parts = larger(1, smaller(ceil_div(s.n, tile::columns), ceil_div(wanted, plan.row_parts)));
  if (plan.tasks() * 2 <= wanted) {
    plan.row_parts =
        larger(plan.row_parts, smaller(ceil_div(s.m, larger(1, least)), ceil_div(wanted, plan.column_parts)));
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
  const std::size_t most_rows = larger(1, s.m / (lanes<Arch> < 16 ? least_rows : packed_a_rows + tile::rows));
  const std::size_t most_columns = larger(1, ceil_div(s.n, tile::columns) / least_panels);
  plan.row_parts = smaller(wanted, most_rows);
  plan.column_parts = smaller(ceil_div(wanted, plan.row_parts), most_columns);
  for (std::size_t columns = 1; columns <= smaller(wanted, most_columns); ++columns) {
    const std::size_t rows = smaller(ceil_div(wanted, columns), most_rows);
    const std::size_t tasks = smaller(wanted, rows * columns);
    const std::size_t tasks_before = smaller(wanted, plan.tasks());
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
  return larger(ceil_div(extent, most_dot_extent),
                smaller(ceil_div(extent, least_dot_extent), larger(s.m, s.n) * s.k / stream_work));
}

// At most `thin_rows` rows: whole rows of B unless they are very long, then parts of k.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr gemm_plan stream_plan(const gemm_shape& s) noexcept {
  const std::size_t columns = ceil_div(s.n, stream_columns);
  const std::size_t wanted = larger(1, smaller(stream_parts, s.k * s.n / stream_work));
  return {gemm_path::streamed, 1, lanes<Arch>, 1, columns, larger(1, smaller(ceil_div(wanted, columns), s.k))};
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
  return {smaller(s.m, run_begin(rows, plan.row_parts, row) * plan.row_unit),
          smaller(s.m, run_begin(rows, plan.row_parts, row + 1) * plan.row_unit),
          smaller(s.n, run_begin(columns, plan.column_parts, column) * plan.column_unit),
          smaller(s.n, run_begin(columns, plan.column_parts, column + 1) * plan.column_unit)};
}

template <class Arch>
[[gnu::noinline]] void run_task(const gemm_plan& plan, const gemm_shape& s, std::size_t task, const product<Arch>& p,
                                const destination<Arch>& to, element_of<Arch>* scratch) noexcept {
  const block_range range = range_of(plan, s, task);
  switch (plan.path) {
    case gemm_path::packed:
      return multiply_block<Arch, panel_source::packed>(p, range, to, scratch);
    case gemm_path::copied:
      return multiply_block<Arch, panel_source::copied>(p, range, to, scratch);
    case gemm_path::in_place:
      return multiply_block<Arch, panel_source::in_place>(p, range, to, scratch);
    case gemm_path::streamed:
      return stream_block<Arch>(p, range, to, scratch);
    case gemm_path::dots:
      return dot_block<Arch>(p, range, to, scratch);
  }
}

// The elements of scratch of one worker for any path.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr std::size_t worker_scratch(const gemm_shape& s) noexcept {
  // Parts differ by one tile at most, so a part may exceed the limit by one tile.
  const std::size_t rows = smaller(s.m, copied_rows + gemm_tile<Arch>::rows);
  const std::size_t thin = thin_scratch<Arch>(s.m, s.n);
  const std::size_t block =
      larger(block_scratch_of<Arch>(rows, s.k).elements, packed_rows_scratch<Arch>(s.m, s.n, s.k));
  return ceil_div(larger(block, thin), scratch_alignment) * scratch_alignment;
}

// The elements of scratch of a product whose parts of k are tasks.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr std::size_t parts_scratch(const gemm_shape& s) noexcept {
  return s.m == 0 || s.m > thin_rows ? 0 : stream_plan<Arch>(s).tasks() * thin_scratch<Arch>(s.m, s.n);
}

// Runs parts of k as tasks. Their sums are contiguous and are joined in the order of k.
template <class Arch, class E>
void run_parts(const gemm_plan& plan, const gemm_shape& s, const product<Arch>& p, const destination<Arch>& to,
               element_of<Arch>* sums, E&& executor) {
  const std::size_t step = thin_scratch<Arch>(s.m, s.n);
  executor.parallel_for(plan.tasks(), [&](std::size_t task, std::size_t) {
    const block_range range = range_of(plan, s, task / plan.depth_parts);
    const std::size_t part = task % plan.depth_parts;
    const std::size_t begin = run_begin(s.k, plan.depth_parts, part);
    const std::size_t columns = range.column_end - range.column_begin;
    stream_part<Arch>({columns,
                       run_begin(s.k, plan.depth_parts, part + 1) - begin,
                       {p.a.at(0, begin), p.a.row_stride, p.a.column_stride},
                       {p.b.at(begin, range.column_begin), p.b.row_stride, p.b.column_stride}},
                      s.m, columns, sums + task * step);
  });
  for (std::size_t task = 0; task < plan.column_parts; ++task, sums += plan.depth_parts * step) {
    const block_range range = range_of(plan, s, task);
    const std::size_t columns = range.column_end - range.column_begin;
    const std::size_t width = padded_columns<Arch>(columns);
    join_sums<Arch>(sums, thin_tile(s.m) * width, plan.depth_parts, step);
    to.write(sums, s.m, columns, width / lanes<Arch>, to, 0, range.column_begin);
  }
}

template <class Arch, class E>
void run_plan(const gemm_plan& plan, const gemm_shape& s, const product<Arch>& p, const destination<Arch>& to,
              void* scratch, E&& executor) {
  if (s.m == 0 || s.n == 0) return;
  element_of<Arch>* const first = static_cast<element_of<Arch>*>(scratch);
  const std::size_t step = worker_scratch<Arch>(s);
  if (plan.tasks() == 1) return run_task<Arch>(plan, s, 0, p, to, first);
  if (plan.depth_parts > 1) return run_parts<Arch>(plan, s, p, to, first, executor);
  executor.parallel_for(plan.tasks(), [&](std::size_t task, std::size_t worker) {
    run_task<Arch>(plan, s, task, p, to, first + worker * step);
  });
}

}  // namespace detail

/// The plan of `gemm` for these operands.
template <class Arch = default_arch>
[[nodiscard]] constexpr gemm_plan plan_gemm(const gemm_shape& shape, const const_matrix<Arch>& a,
                                            const const_matrix<Arch>& b, std::size_t workers = 1) noexcept {
  return detail::plan_of<Arch>(shape, detail::with_unit_strides(a, shape.m, shape.k),
                               detail::with_unit_strides(b, shape.k, shape.n), workers);
}

/// The plan of `gemm_packed`.
template <class Arch = default_arch>
[[nodiscard]] constexpr gemm_plan plan_gemm_packed(const gemm_shape& shape, const const_matrix<Arch>& a,
                                                   std::size_t workers = 1) noexcept {
  return detail::panels_plan<Arch>(gemm_path::packed, shape, a, detail::packed_rows, workers);
}

/// The bytes of scratch, aligned to 64, for any of the functions below. Bounded for all extents, except for the sums of
/// at most four rows, which grow with n.
template <class Arch = default_arch>
[[nodiscard]] constexpr std::size_t gemm_scratch_bytes(const gemm_shape& shape, std::size_t workers = 1) noexcept {
  return detail::larger(workers * detail::worker_scratch<Arch>(shape), detail::parts_scratch<Arch>(shape)) *
         sizeof(element_of<Arch>);
}

/// C[m, n] = epilogue(A[m, k] B[k, n]) with any strides. The epilogue may read C; C must not overlap A or B.
template <class Arch = default_arch, class Epilogue = keep, class E = serial_executor>
void gemm(const gemm_shape& shape, const const_matrix<Arch>& a, const const_matrix<Arch>& b,
          const strided_matrix<element_of<Arch>>& c, void* scratch, const Epilogue& epilogue = {}, E&& executor = {}) {
  const detail::product<Arch> p{shape.n, shape.k, detail::with_unit_strides(a, shape.m, shape.k),
                                detail::with_unit_strides(b, shape.k, shape.n)};
  detail::run_plan<Arch>(detail::plan_of<Arch>(shape, p.a, p.b, executor.worker_count()), shape, p,
                         detail::destination_of<Arch>(c, epilogue), scratch, executor);
}

/// C[m, n] = epilogue(A[m, k] B[k, n]) with B packed by `pack_b`.
template <class Arch = default_arch, class Epilogue = keep, class E = serial_executor>
void gemm_packed(const gemm_shape& shape, const const_matrix<Arch>& a, const element_of<Arch>* packed_b,
                 const strided_matrix<element_of<Arch>>& c, void* scratch, const Epilogue& epilogue = {},
                 E&& executor = {}) {
  const detail::product<Arch> p{shape.n, shape.k, a, {packed_b, 0, 1}};
  detail::run_plan<Arch>(plan_gemm_packed<Arch>(shape, p.a, executor.worker_count()), shape, p,
                         detail::destination_of<Arch>(c, epilogue), scratch, executor);
}

/// One problem of a batch: its pointers and its epilogue.
template <class Epilogue = keep, class T = float>
struct gemm_problem {
  const T* a;
  const T* b;
  T* c;
  Epilogue epilogue{};
};

/// `count` products of one shape and one set of strides: `problem_at(i)` gives the pointers of problem i.
///
/// The tasks of all problems are distributed together, so that many small products and a few large ones both keep all
/// threads busy.
template <class Arch = default_arch, class ProblemAt, class E = serial_executor>
void gemm_batched(std::size_t count, const gemm_shape& shape, const const_matrix<Arch>& a, const const_matrix<Arch>& b,
                  const strided_matrix<element_of<Arch>>& c, void* scratch, const ProblemAt& problem_at,
                  E&& executor = {}) {
  if (count == 0 || shape.m == 0 || shape.n == 0) return;
  const auto unit_a = detail::with_unit_strides(a, shape.m, shape.k);
  const auto unit_b = detail::with_unit_strides(b, shape.k, shape.n);
  gemm_plan plan = detail::plan_of<Arch>(shape, unit_a, unit_b, executor.worker_count());
  if (count > 1) plan.depth_parts = 1;
  const auto product_of = [&](const auto& problem) {
    return detail::product<Arch>{shape.n,
                                 shape.k,
                                 {problem.a, unit_a.row_stride, unit_a.column_stride},
                                 {problem.b, unit_b.row_stride, unit_b.column_stride}};
  };
  const auto destination_of = [&](const auto& problem) {
    return detail::destination_of<Arch>({problem.c, c.row_stride, c.column_stride}, problem.epilogue);
  };
  if (plan.depth_parts > 1) {
    const auto problem = problem_at(0);
    return detail::run_plan<Arch>(plan, shape, product_of(problem), destination_of(problem), scratch, executor);
  }
  element_of<Arch>* const first = static_cast<element_of<Arch>*>(scratch);
  const std::size_t step = detail::worker_scratch<Arch>(shape);
  executor.parallel_for(count * plan.tasks(), [&](std::size_t task, std::size_t worker) {
    const auto problem = problem_at(task / plan.tasks());
    detail::run_task<Arch>(plan, shape, task % plan.tasks(), product_of(problem), destination_of(problem),
                           first + worker * step);
  });
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

#pragma GCC diagnostic pop
