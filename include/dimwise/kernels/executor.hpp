// dimwise/kernels/executor.hpp -- the concept of an executor, which runs tasks on threads, and a serial executor.
//
// Layer: kernels. Includes: light standard headers only.
// Tests: tests/kernels/attention/forward.test.cpp
//
// A kernel divides its work into tasks that depend on the problem alone, not on the number of threads, so every result
// is bitwise identical on any executor. Scratch memory belongs to a worker, not to a task.
//
//   serial_executor one;
//   one.parallel_for(10, [](std::size_t task, std::size_t worker) { ... });
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>

namespace dimwise::kernels {

/// Runs `f(task, worker)` once for every task in [0, count) and returns when all have finished.
///
/// `worker` < `worker_count()`, and no two concurrent calls share a worker.
template <class E>
concept Executor = requires(E& executor, std::size_t count, void (*const& f)(std::size_t task, std::size_t worker)) {
  { executor.worker_count() } -> std::convertible_to<std::size_t>;
  executor.parallel_for(count, f);
};

/// Runs all tasks in order on the calling thread.
struct serial_executor {
  [[nodiscard]] static constexpr std::size_t worker_count() noexcept { return 1; }

  template <class F>
  static constexpr void parallel_for(std::size_t count, F&& f) {
    for (std::size_t task = 0; task < count; ++task) f(task, std::size_t{0});
  }
};

static_assert(Executor<serial_executor>);

}  // namespace dimwise::kernels
