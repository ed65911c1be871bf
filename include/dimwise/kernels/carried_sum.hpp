// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/carried_sum.hpp -- a sum of any number of terms whose error grows like their logarithm.
//
// Layer: kernels. Includes: configuration.hpp and light standard headers only.
// Tests: tests/kernels/long_sums.test.cpp
//
//   carried_sum<float> sum;  sum += x;  …  sum.value()
//
// Every 32 terms of a level are one term of the next, so no term meets more than 32 additions a level. The order
// depends on the number of terms alone. Compensated sums (Kahan) have smaller errors, but turn infinities into NaN.
#pragma once

#include <dimwise/kernels/configuration.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

/// A sum of floats, doubles, or registers of floats. Running values of terms >= 0 never decrease.
template <class T>
class carried_sum {
 public:
  carried_sum() {
    for (T& level : levels_) { level = T(0.0F); }
  }
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
      levels_[i + 1] = levels_[i + 1] + levels_[i];
      levels_[i] = T(0.0F);
    }
    top_ = i > top_ ? i : top_;
  }

  T levels_[most];
  std::size_t left_ = radix;  // terms until the next carry
  std::size_t terms_ = 0;     // that were carried
  std::size_t top_ = 0;
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
