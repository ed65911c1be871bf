// SPDX-License-Identifier: BSL-1.0
// dimwise/support/axis.hpp -- an extent and the step in memory from one element to the next, and other offsets.
//
// Layer: support.
#pragma once

#include <cstddef>

namespace dimwise::detail {

// Not initialised: an evaluation has dozens of arrays of them, and writes each before it reads it. A layout is (zeros).
struct axis {
  std::size_t extent;
  std::ptrdiff_t stride;
};

// A row that is added to another: how far both begin from the first element.
struct added_row {
  std::ptrdiff_t to;
  std::ptrdiff_t from;
};

// More axes than any formula has; loops keep their counters on the stack.
inline constexpr std::size_t max_rank = 16;

}  // namespace dimwise::detail
