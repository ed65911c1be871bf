// dimwise/kernels/decode/prefetch_rows.hpp -- prefetching rows of memory before they are read.
//
// Layer: kernels. Includes: nothing of dimwise.
// Tests: tests/kernels/attention/forward.test.cpp
//
// Hardware prefetchers follow streams, and a stream ends at the end of a block, a strip or a head.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

/// Rows of contiguous floats to be read soon.
struct prefetch_rows {
  const float* data = nullptr;
  std::ptrdiff_t row = 0;
  std::size_t features = 0;
  std::size_t rows = 0;

  /// The share of one of `count` passes in each row, in whole cache lines.
  [[nodiscard, gnu::always_inline]] prefetch_rows share(std::size_t index, std::size_t count) const noexcept {
    constexpr std::size_t line = 64 / sizeof(float);
    const std::size_t lines = (features + line - 1) / line;
    const std::size_t first = lines * index / count * line;
    const std::size_t last = lines * (index + 1) / count * line;
    if (first >= features) return {};
    return {data + first, row, (last < features ? last : features) - first, rows};
  }

  [[gnu::always_inline]] void prefetch(std::size_t begin, std::size_t count) const noexcept {
#if defined(__GNUC__)
    for (std::size_t i = begin; i < begin + count && i < rows; ++i) {
      const float* at = data + static_cast<std::ptrdiff_t>(i) * row;
      for (std::size_t c = 0; c < features; c += 64 / sizeof(float)) __builtin_prefetch(at + c, 0, 3);
    }
#else
    (void)begin, (void)count;
#endif
  }
};

/// Several groups of rows, prefetched a few rows at a time, the last group first.
class reading_list {
 public:
  [[gnu::always_inline]] void add(const prefetch_rows& rows) noexcept {
    if (rows.rows > 0) kinds_[size_++] = rows;
  }

  /// Distributes the remaining rows over this number of calls of `ask`.
  [[gnu::always_inline]] void spread(std::size_t calls) noexcept {
    std::size_t left = 0;
    for (std::size_t i = 0; i < size_; ++i) left += kinds_[i].rows;
    at_once_ = left / calls + 1;
  }

  [[gnu::always_inline]] void ask() noexcept {
    for (std::size_t i = 0; i < at_once_ && size_ > 0; ++i) {
      prefetch_rows& next = kinds_[size_ - 1];
      next.prefetch(0, 1);
      if (--next.rows == 0) {
        --size_;
      } else {
        next.data += next.row;
      }
    }
  }

 private:
  prefetch_rows kinds_[4];
  std::size_t size_ = 0;
  std::size_t at_once_ = 0;
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
