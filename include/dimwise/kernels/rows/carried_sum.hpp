// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/rows/carried_sum.hpp -- a sum of any number of terms whose error grows like their logarithm.
//
// Layer: kernels. Includes: configuration.hpp and light standard headers only.
// Tests: tests/kernels/rows/carried_sum.test.cpp
//
//   carried_sum<float> sum;  sum += x;  …  sum.value()
//
// Every 32 terms of a level are one term of the next, so no term meets more than 32 additions a level. The order
// depends on the number of terms alone. Compensated sums (Kahan) have smaller errors, but turn infinities into NaN.
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail_loops {
inline constexpr std::size_t sum_block = 64;  // terms of the scalar path that are added without a carry
}

/// A sum of floats, doubles, or registers of floats. Running values of terms >= 0 never decrease.
template <class T>
class carried_sum {
 public:
  carried_sum() { levels_[0] = T(0.0F); }
  carried_sum& operator+=(const T& x) {
    levels_[0] = levels_[0] + x;
    if (--left_ == 0) { carry(); }
    return *this;
  }
  [[nodiscard]] T value() const {
    T sum = levels_[0];
    for (std::size_t i = 1; i <= top_; ++i) { sum = levels_[i] + sum; }
    return sum;
  }

 private:
  static constexpr std::size_t radix = 32;
  static constexpr std::size_t most = 13;  // radix to this power is more than a std::size_t counts

  [[gnu::noinline]] void carry() {
    std::size_t i = 0;
    left_ = radix;
    terms_ += radix;
    for (std::size_t n = terms_; n % radix == 0 && i + 1 < most; n /= radix, ++i) {
      levels_[i + 1] = i < top_ ? levels_[i + 1] + levels_[i] : levels_[i];
      levels_[i] = T(0.0F);
    }
    top_ = i > top_ ? i : top_;
  }

  T levels_[most];            // those above top_ hold nothing yet
  std::size_t left_ = radix;  // terms until the next carry
  std::size_t terms_ = 0;     // that were carried
  std::size_t top_ = 0;
};

/// The same for rows of `n` elements in memory: level after level, `step` elements apart. Terms are added to `row()`,
/// and `carry` is called after each block of them.
template <class T>
class carried_rows_of {
 public:
  /// Levels that `blocks` blocks of terms need: one for one block.
  [[nodiscard]] static constexpr std::size_t levels(std::size_t blocks) noexcept {
    std::size_t n = 1;
    for (; blocks > 1; blocks = (blocks + radix - 1) / radix) { ++n; }
    return n;
  }
  /// Clears all levels.
  carried_rows_of(std::size_t n, std::size_t step, std::size_t levels, T* memory)
      : n_(n), step_(step), levels_(levels), memory_(memory) {
    for (std::size_t i = 0; i < levels; ++i) { clear(i); }
  }
  [[nodiscard]] T* row() const { return memory_; }
  /// Adds a row to another.
  using adder = void (*)(std::size_t n, T* to, const T* from);
  void carry(adder add) {
    ++blocks_;
    std::size_t blocks = blocks_;
    for (std::size_t i = 0; i + 1 < levels_ && (i == 0 || blocks % radix == 0); ++i) {
      if (i > 0) { blocks /= radix; }
      add(n_, level(i + 1), level(i));
      clear(i);
    }
  }
  /// `row()` holds the sum of all terms then.
  void finish(adder add) const {
    for (std::size_t i = 1; i < levels_; ++i) { add(n_, memory_, level(i)); }
  }

 private:
  static constexpr std::size_t radix = 32;

  [[nodiscard]] T* level(std::size_t i) const { return memory_ + i * step_; }
  void clear(std::size_t i) const {
    for (std::size_t c = 0; c < n_; ++c) { level(i)[c] = 0; }
  }

  std::size_t n_;
  std::size_t step_;
  std::size_t levels_;
  T* memory_;
  std::size_t blocks_ = 0;
};
using carried_rows = carried_rows_of<float>;

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
