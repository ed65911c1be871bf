// SPDX-License-Identifier: BSL-1.0
// dimwise/support/name.hpp -- the compiler's name of a type, and an order of types by name.
//
// Layer: support. Includes: nothing.
// Marks are a set in canonical order; types have no order, but their names do.
#pragma once

#include <cstddef>

namespace dimwise::detail {

// Characters with static lifetime.
struct text {
  const char* begin;
  std::size_t length;
};

// "… [with T = demo::seq]" on g++, "… [T = demo::seq]" on clang: the text between the last "T = " and the bracket.
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

// Writes a type's name as its user spells it, one character at a time: each identifier without its qualification.
// Parentheses belong to an identifier: (anonymous namespace)::seq, f(int, char)::seq.
template <class Put>
constexpr void say_name(text name, Put put) {
  std::size_t i = 0;
  while (i < name.length) {
    std::size_t word = i;
    for (int depth = 0; i < name.length; ++i) {
      const char c = name.begin[i];
      if (depth == 0 && (c == '<' || c == '>' || c == ',' || c == ' ')) { break; }
      depth += c == '(' ? 1 : (c == ')' ? -1 : 0);
      if (depth == 0 && c == ':') { word = i + 1; }
    }
    for (; word < i; ++word) { put(name.begin[word]); }
    if (i + 1 < name.length && name.begin[i] == ' ' && name.begin[i + 1] == '>') {
      ++i;
    }  // g++ writes merged<h, prime<p> >
    if (i < name.length) { put(name.begin[i++]); }
  }
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
