// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/tbb.hpp -- the threads of oneTBB for an evaluation. Needs the target dimwise::tbb.
//
// Layer: eval. Includes: oneTBB.
// Tests: tests/dispatch/threads.cpp
//
//   tbb_executor four(4);
//   auto y = evaluate(expr, four);   // the same to the last bit as evaluate(expr)
#pragma once

#include <dimwise/kernels/executor.hpp>

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <cstddef>

namespace dimwise {

/// Runs the tasks of an evaluation in an arena of its own with a fixed number of threads, the calling one among them.
class tbb_executor {
 public:
  /// An arena of so many threads, 0 counting as one; all that the machine has if not said.
  explicit tbb_executor(std::size_t threads = static_cast<std::size_t>(oneapi::tbb::this_task_arena::max_concurrency()))
      : arena_(threads == 0 ? 1 : static_cast<int>(threads)) {
    // Now, because an arena that still has to begin does not know its number of threads.
    arena_.initialize();
  }

  /// The number of threads.
  [[nodiscard]] std::size_t worker_count() const { return static_cast<std::size_t>(arena_.max_concurrency()); }

  /// `f(task, thread)` for each task below `count`, in any order; what one of them throws is thrown here.
  template <class F>
  void parallel_for(std::size_t count, F&& f) {
    arena_.execute([&] {
      // Tasks are few and long: each may go to another thread, so that the last ones do not wait in one queue.
      oneapi::tbb::parallel_for(std::size_t{0}, count,
                                // A place in the arena belongs to one thread at a time.
                                [&](std::size_t task) {
        f(task, static_cast<std::size_t>(oneapi::tbb::this_task_arena::current_thread_index()));
      }, oneapi::tbb::simple_partitioner{});
    });
  }

 private:
  oneapi::tbb::task_arena arena_;
};

static_assert(kernels::Executor<tbb_executor>);

}  // namespace dimwise
