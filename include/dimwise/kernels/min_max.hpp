// dimwise/kernels/min_max.hpp -- min and max of two sizes or indices, without <algorithm>.
//
// Layer: kernels. Inlined always, so that a kernel for one instruction set calls nothing compiled for another.
// Tests: tests/kernels/attention/forward.test.cpp, tests/kernels/gemm/product.test.cpp
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

template <class T>
[[nodiscard, gnu::always_inline]] constexpr T min(T a, T b) noexcept {
  return b < a ? b : a;
}
template <class T>
[[nodiscard, gnu::always_inline]] constexpr T max(T a, T b) noexcept {
  return a < b ? b : a;
}
// Not templates, so that a literal may be beside a size: max(1, rows).
[[nodiscard, gnu::always_inline]] constexpr std::size_t min(std::size_t a, std::size_t b) noexcept {
  return b < a ? b : a;
}
[[nodiscard, gnu::always_inline]] constexpr std::size_t max(std::size_t a, std::size_t b) noexcept {
  return a < b ? b : a;
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
