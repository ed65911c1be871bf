// SPDX-License-Identifier: BSL-1.0
// dimwise/support/name.hpp -- the name that a compiler prints for a type, and an order by it.
//
// Layer: support. Includes: nothing.
// Marks are a set in one canonical order; types have no order of their own, but their names do.
#pragma once

#include <cstddef>

namespace dimwise::detail {

// Characters of a string that lives as long as the program.
struct text {
  const char* begin;
  std::size_t length;
};

// "… [with T = demo::seq]" on g++, "… [T = demo::seq]" on clang: what stands between the last "T = " and the bracket.
template <class T>
consteval text raw_type_name() {
  const char* whole = __PRETTY_FUNCTION__;
  std::size_t length = 0;
  while (whole[length] != '\0') { ++length; }
  std::size_t first = 0;
  while (!(whole[first] == 'T' && whole[first + 1] == ' ' && whole[first + 2] == '=')) { ++first; }
  first += 4;
  return {whole + first, length - first - 1};
}

template <class A, class B>
consteval bool name_before() {
  constexpr text a = raw_type_name<A>();
  constexpr text b = raw_type_name<B>();
  for (std::size_t i = 0; i < a.length && i < b.length; ++i) {
    if (a.begin[i] != b.begin[i]) { return a.begin[i] < b.begin[i]; }
  }
  return a.length < b.length;
}

}  // namespace dimwise::detail
