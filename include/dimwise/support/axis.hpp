// SPDX-License-Identifier: BSL-1.0
// dimwise/support/axis.hpp -- the extent and stride of one axis of a memory layout, and offsets of rows.
//
// Layer: support.
#pragma once

#include <cstddef>

namespace dimwise::detail {

// Not initialised: an evaluation has dozens of arrays of axes and writes each before reading it.
struct axis {
  std::size_t extent;
  std::ptrdiff_t stride;
};

// Offsets of a row and of the row that is added to it, both from the first element.
struct added_row {
  std::ptrdiff_t to;
  std::ptrdiff_t from;
};

// The maximum rank, beyond that of any formula; loops keep their counters on the stack.
inline constexpr std::size_t max_rank = 16;

}  // namespace dimwise::detail
