// SPDX-License-Identifier: BSL-1.0
// examples/live/libcxx13.hpp -- parts of C++20 that the libc++ 13 of Debian's emscripten lacks.
//
// Included before everything else (-include). Adds nothing if the library has these.
#pragma once

#include <version>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 14000

#include <charconv>
#include <cstdio>
#include <type_traits>

namespace std {  // NOLINT(cert-dcl58-cpp): the place where the library would have them

template <class To, class From>
  requires(sizeof(To) == sizeof(From))
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

inline to_chars_result to_chars(char* first, char* last, double value, chars_format, int precision) {
  const int n = snprintf(first, static_cast<size_t>(last - first), "%.*g", precision, value);
  return {first + n, errc()};
}
// The shortest digits that round-trip.
inline to_chars_result to_chars(char* first, char* last, double value) {
  for (int precision = 1; precision < 17; ++precision) {
    const to_chars_result r = to_chars(first, last, value, chars_format::general, precision);
    if (strtod(first, nullptr) == value) { return r; }
  }
  return to_chars(first, last, value, chars_format::general, 17);
}

}  // namespace std

#endif
