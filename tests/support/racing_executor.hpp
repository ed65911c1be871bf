// tests/support/racing_executor.hpp -- an executor whose threads race for tasks.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace support {

/// Threads that take tasks as they come: the order of tasks changes from run to run.
struct racing_executor {
  std::size_t workers;
  [[nodiscard]] std::size_t worker_count() const { return workers; }
  template <class F>
  void parallel_for(std::size_t count, F&& f) const {
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> team;
    for (std::size_t w = 0; w < workers; ++w) {
      team.emplace_back([&, w] {
        for (std::size_t task = next++; task < count; task = next++) f(task, w);
      });
    }
    for (std::thread& t : team) t.join();
  }
};

}  // namespace support
