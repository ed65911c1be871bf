// dimwise/kernels/executor.hpp -- what a kernel requires of the owner of the threads, and an executor without threads.
//
// Layer: kernels. Includes: light standard headers only.
// Tests: tests/kernels/attention.test.cpp
//
// A kernel cuts its work into tasks that depend on the problem alone, never on the number of threads, so every result
// is the same to the last bit on any executor. Scratch memory belongs to a worker, not to a task.
//
//   serial_executor one;
//   one.parallel_for(10, [](std::size_t task, std::size_t worker) { ... });
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>

namespace dimwise::kernels {

/// Runs `f(task, worker)` once for every task in [0, count) and returns when all are done.
///
/// `worker` < `worker_count()`, and no two calls that overlap in time share a worker.
template <class E>
concept Executor = requires(E& executor, std::size_t count, void (*const& f)(std::size_t task, std::size_t worker)) {
  { executor.worker_count() } -> std::convertible_to<std::size_t>;
  executor.parallel_for(count, f);
};

/// The calling thread does everything, in order.
struct serial_executor {
  [[nodiscard]] static constexpr std::size_t worker_count() noexcept { return 1; }

  template <class F>
  static constexpr void parallel_for(std::size_t count, F&& f) {
    for (std::size_t task = 0; task < count; ++task) f(task, std::size_t{0});
  }
};

static_assert(Executor<serial_executor>);

}  // namespace dimwise::kernels
