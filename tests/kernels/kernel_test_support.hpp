// tests/kernels/kernel_test_support.hpp -- scratch memory that notices overruns, and threads that race for tasks.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "support/racing_executor.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

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

}  // namespace support
