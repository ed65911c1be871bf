// SPDX-License-Identifier: BSL-1.0
// dimwise/dim/extent_math_definitions.hpp -- the exception of a sum or product of extents that overflows.
//
// Layer: dim. Compiled once if a program links the library (support/library.hpp).
// Tests: tests/tensor/overflow.test.cpp
#pragma once

#include <dimwise/dim/extent_math.hpp>

namespace dimwise::detail {

[[noreturn]] DIMWISE_DETAIL_LIBRARY void throw_wraps(const char* operation, name_of name, const char* what,
                                                     const char* sign, std::initializer_list<std::size_t> extents) {
  error e;
  if (operation != nullptr) { e << operation << ": "; }
  e << "the extent of dimension " << name() << " overflows, it is the " << what << " of ";
  const char* between = "";
  for (const std::size_t n : extents) {
    e << between << n;
    between = sign;
  }
  raise<extent_error>(e << " (R15)");
}

}  // namespace dimwise::detail
