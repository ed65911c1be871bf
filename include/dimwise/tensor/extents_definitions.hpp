// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/extents_definitions.hpp -- how extents and origins of operands are compared.
//
// Layer: tensor. Compiled once if a program links the library (support/library.hpp).
// Tests: tests/tensor/extents.test.cpp
#pragma once

#include <dimwise/tensor/extents.hpp>

namespace dimwise::detail {

[[noreturn]] DIMWISE_DETAIL_LIBRARY void throw_unequal(const char* operation, name_of a, extent_t of_a, name_of b,
                                                       extent_t of_b, const char* rule) {
  raise<extent_error>(error{} << operation << ": " << a() << " has extent " << of_a << " and " << b() << " has extent "
                              << of_b << " (" << rule << ")");
}
[[noreturn]] DIMWISE_DETAIL_LIBRARY void throw_disputed_origin(const char* operation, name_of name) {
  raise<origin_error>(
      error{} << operation << ": the operands, or the tensors they come from, have different origins along " << name());
}
[[noreturn]] DIMWISE_DETAIL_LIBRARY void throw_part_without_origin(const char* operation, name_of name) {
  raise<origin_error>(error{} << operation << ": this rank's part " << name()
                              << " has no origin: make it with part_here, or set it with starting_at (R7, R24)");
}

DIMWISE_DETAIL_LIBRARY void check_same(slot& here, const slot& there, const char* operation, name_of name) {
  if (here.extent != there.extent) {
    raise<extent_error>(error{} << operation << ": dimension " << name() << " has extent " << here.extent
                                << " in one operand and " << there.extent << " in another (R15)");
  }
  if (here.origin == unknown_origin) {
    here.origin = there.origin;
  } else if (there.origin != unknown_origin && there.origin != here.origin) {
    here.origin = disputed_origin;
  }
}
DIMWISE_DETAIL_LIBRARY void check_same(segments& here, const segments& there, const char* operation, name_of name) {
  if (!here.known()) {
    here = there;
  } else if (there.known() && !(here == there)) {
    raise<extent_error>(error{} << operation << ": dimension " << name()
                                << " has different documents in the operands (R15, R19)");
  }
}

DIMWISE_DETAIL_LIBRARY void merge_slots(slot* to, const short* at, std::size_t count, std::size_t operands,
                                        const short* const* places, const slot* const* from, const char* operation,
                                        const name_of* names) {
  for (std::size_t i = 0; i < count; ++i) {
    slot merged{};
    bool found = false;
    for (std::size_t j = 0; j < operands; ++j) {
      const short place = places[j][i];
      if (place < 0) { continue; }
      if (found) {
        check_same(merged, from[j][place], operation, names[i]);
      } else {
        merged = from[j][place];
        found = true;
      }
    }
    if (found && at[i] >= 0) { to[at[i]] = merged; }
  }
}

DIMWISE_DETAIL_LIBRARY std::ptrdiff_t position_after(std::ptrdiff_t origin, std::size_t by, const char* operation,
                                                     name_of name) {
  if (origin == disputed_origin) { return origin; }
  const std::ptrdiff_t from = origin == unknown_origin ? 0 : origin;
  if (by > static_cast<std::size_t>(farthest_origin) - static_cast<std::size_t>(from)) {
    raise<origin_error>(error{} << operation << ": the position " << by << " after position "
                                << static_cast<long long>(from) << " of dimension " << name()
                                << " is beyond 2^60 (R7)");
  }
  return from + static_cast<std::ptrdiff_t>(by);
}

}  // namespace dimwise::detail
