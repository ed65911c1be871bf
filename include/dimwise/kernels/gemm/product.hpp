// dimwise/kernels/gemm/product.hpp -- C = epilogue(A B) for matrices of any strides; B may be packed in advance.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only.
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
#include <dimwise/kernels/gemm/plan.hpp>
#include <dimwise/kernels/gemm/thin.hpp>
#include <dimwise/kernels/gemm/tile.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>

// A value that a switch does not handle fails to compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail {

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
  const std::size_t rows = min(s.m, copied_rows + gemm_tile<Arch>::rows);
  const std::size_t thin = thin_scratch<Arch>(s.m, s.n);
  const std::size_t block = max(block_scratch_of<Arch>(rows, s.k).elements, packed_rows_scratch<Arch>(s.m, s.n, s.k));
  return ceil_div(max(block, thin), scratch_alignment) * scratch_alignment;
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
  return detail::max(workers * detail::worker_scratch<Arch>(shape), detail::parts_scratch<Arch>(shape)) *
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
