// SPDX-License-Identifier: BSL-1.0
// dimwise/dim/extent_math.hpp -- checked sums and products of run-time extents; an overflow throws (R15).
//
// Layer: dim. All sums and products of run-time extents use these functions: a wrapped extent would be small, and
// writes would run past the end of its memory.
// Tests: tests/tensor/overflow.test.cpp
//
//   checked_product("merge", &dimension_name<merged<a, b>>, {n, m})
#pragma once

#include <dimwise/dim/error.hpp>
#include <dimwise/support/library.hpp>

#include <cstddef>
#include <initializer_list>
#include <limits>

namespace dimwise::detail {

using name_of = text (*)();

[[noreturn]] DIMWISE_DETAIL_LIBRARY void throw_wraps(const char* operation, name_of name, const char* what,
                                                     const char* sign, std::initializer_list<std::size_t> extents);

/// The sum, which is the extent of `name` in `operation` (null if unknown); throws `extent_error` on overflow.
constexpr std::size_t checked_sum(const char* operation, name_of name, std::initializer_list<std::size_t> extents) {
  std::size_t all = 0;
  for (const std::size_t n : extents) {
    if (n > std::numeric_limits<std::size_t>::max() - all) { throw_wraps(operation, name, "sum", " + ", extents); }
    all += n;
  }
  return all;
}

// The product of factor(0) to factor(count - 1). Returns false on overflow; a factor of 0 makes it 0.
template <class Factor>
constexpr bool multiply(std::size_t count, const Factor& factor, std::size_t& all) {
  all = 1;
  bool fits = true;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t n = factor(i);
    if (n == 0) {
      all = 0;
      return true;
    }
    fits = fits && n <= std::numeric_limits<std::size_t>::max() / all;
    all = fits ? all * n : 1;
  }
  return fits;
}
constexpr bool multiply(std::initializer_list<std::size_t> extents, std::size_t& all) {
  return multiply(extents.size(), [&](std::size_t i) { return extents.begin()[i]; }, all);
}
/// The product, which is the extent of `name` in `operation`; throws `extent_error` on overflow.
constexpr std::size_t checked_product(const char* operation, name_of name, std::initializer_list<std::size_t> extents) {
  std::size_t all = 1;
  if (!multiply(extents, all)) { throw_wraps(operation, name, "product", " x ", extents); }
  return all;
}

// The stride of the next outer axis. It wraps only if no element is accessed.
constexpr std::ptrdiff_t times(std::ptrdiff_t stride, std::size_t extent) {
  return static_cast<std::ptrdiff_t>(static_cast<std::size_t>(stride) * extent);
}

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/dim/extent_math_definitions.hpp>
#endif
