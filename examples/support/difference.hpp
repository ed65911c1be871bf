// SPDX-License-Identifier: BSL-1.0
// examples/support/difference.hpp -- the maximum difference from expected values.
#pragma once

#include <cmath>
#include <cstddef>

namespace examples {

/// The maximum difference between two ranges; infinite if a value is NaN or the sizes differ.
template <class Values, class Expected>
[[nodiscard]] double largest_difference(const Values& values, const Expected& expected) {
  if (values.size() != expected.size()) { return INFINITY; }
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = std::fabs(static_cast<double>(values[i]) - static_cast<double>(expected[i]));
    if (std::isnan(d)) { return INFINITY; }  // fmax would ignore it
    largest = std::fmax(largest, d);
  }
  return largest;
}

}  // namespace examples
