// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/execution.hpp -- who does the work of an evaluation, and what was done.
//
// Layer: eval. Serial unless an executor is passed: `evaluate(expr, executor)`. Kernels cut their work the same way for
// every number of threads, so results do not depend on the executor.
// Tests: tests/eval/plan.test.cpp, tests/eval/threads.test.cpp
#pragma once

#include <dimwise/kernels/active.hpp>
#include <dimwise/kernels/table.hpp>
#include <dimwise/tensor/storage.hpp>

#include <cstddef>

namespace dimwise {

/// How a part of an expression is evaluated.
enum class plan_kind : unsigned char {
  look,       ///< another look at an operand's memory: nothing is computed
  plain,      ///< loops of the plain evaluator
  rows,       ///< vectorized rows: softmax, log_softmax, norms, sums, means, maxima, minima
  map,        ///< a vectorized function of contiguous elements
  product,    ///< matrix products
  attention,  ///< fused softmax(scores) · values, scores never stored
  decode,     ///< the same for few queries: keys and values are read once
};
inline constexpr std::size_t plan_kinds = 7;

/// The name of a plan.
[[nodiscard]] constexpr const char* name_of(plan_kind k) {
  constexpr const char* names[] = {"look", "plain", "rows", "map", "product", "attention", "decode"};
  return names[static_cast<std::size_t>(k)];
}

/// How often each plan ran on this thread: tests of a fast path assert that it ran.
struct plan_counts {
  std::size_t of[plan_kinds] = {};
  [[nodiscard]] std::size_t operator[](plan_kind k) const { return of[static_cast<std::size_t>(k)]; }
};

namespace detail {

inline thread_local plan_counts plans_run;
inline thread_local kernels::runner current_runner;

inline void count_plan(plan_kind k) { ++plans_run.of[static_cast<std::size_t>(k)]; }

// Memory for one call of a kernel. Each call has its own: a function of the user's that a kernel calls may evaluate, too.
inline aligned_vector<unsigned char> scratch(std::size_t bytes) { return aligned_vector<unsigned char>(bytes); }

// The executor of an evaluation, for as long as it lasts.
class running_with {
 public:
  explicit running_with(const kernels::runner& r) : before_(current_runner) { current_runner = r; }
  running_with(const running_with&) = delete;
  running_with& operator=(const running_with&) = delete;
  ~running_with() { current_runner = before_; }

 private:
  kernels::runner before_;
};

// Cuts `count` items into parts of `part` items, the same for every executor, and calls f(begin, end) for each.
template <class F>
void in_parts(std::size_t count, std::size_t part, const F& f) {
  const std::size_t parts = (count + part - 1) / part;
  current_runner.parallel_for(
      parts, [&](std::size_t i, std::size_t) { f(i * part, i + 1 == parts ? count : (i + 1) * part); });
}
// Elements of a part: enough that handing it out is cheap beside it.
inline constexpr std::size_t part_elements = std::size_t{1} << 14;

template <kernels::Executor E>
kernels::runner runner_for(E& executor) {
  const std::size_t workers = executor.worker_count();
  if (workers == 0) {
    raise<extent_error>(error{} << "evaluate: the executor's worker_count() is 0, at least 1 is expected");
  }
  return {workers, [](void* self, std::size_t count, kernels::runner::task f, void* context) {
    static_cast<E*>(self)->parallel_for(count, [&](std::size_t task, std::size_t worker) { f(context, task, worker); });
  }, &executor};
}

}  // namespace detail

/// The plans that ran on this thread since it began, or since `reset_plans`.
[[nodiscard]] inline const plan_counts& plans_run() { return detail::plans_run; }
inline void reset_plans() { detail::plans_run = {}; }

}  // namespace dimwise
