// tests/kernels/kernel_test_support.hpp -- scratch memory that notices overruns, and threads that race for tasks.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace support {

/// Aligned memory full of NaN, with a canary behind it.
class scratch_memory {
 public:
  explicit scratch_memory(std::size_t bytes)
      : bytes_(bytes), data_(static_cast<unsigned char*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64)), &std::free) {
    std::memset(data_.get(), 0xFF, (bytes + 127) / 64 * 64);  // nothing may rely on fresh memory
  }
  [[nodiscard]] void* get() const { return data_.get(); }
  [[nodiscard]] bool intact() const { return data_.get()[bytes_] == 0xFF; }

 private:
  std::size_t bytes_;
  std::unique_ptr<unsigned char, decltype(&std::free)> data_;
};

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
