// SPDX-License-Identifier: BSL-1.0
// dimwise/support/escaped.hpp -- escapes text from outside, such as names in files, for messages.
//
// Layer: support. Includes: nothing.
// Tests: tests/tensor/errors.test.cpp
#pragma once

#include <cstddef>

namespace dimwise::detail {

// Calls put(c) for each byte of a text. Escapes terminal control characters and Unicode's bidirectional controls as
// \x1b or \u202e, and bytes that are not valid UTF-8 as \xff. Keeps line breaks.
template <class Put>
void say_escaped(const char* s, std::size_t size, const Put& put) {
  const auto byte = [&](std::size_t i) { return i < size ? static_cast<unsigned char>(s[i]) : 0U; };
  const auto escape = [&](char kind, unsigned value, int digits) {
    put('\\');
    put(kind);
    while (digits-- > 0) { put("0123456789abcdef"[(value >> (4 * digits)) & 15U]); }
  };
  for (std::size_t i = 0; i < size;) {
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    bool whole = first < 0x80 || (first >= 0xc2 && first <= 0xf4);
    unsigned value = first & (length == 1 ? 0x7fU : 0xffU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      whole = whole && (byte(i + k) & 0xc0U) == 0x80;
      value = value << 6 | (byte(i + k) & 0x3fU);
    }
    const bool order = value == 0x61c || value == 0x200e || value == 0x200f || (value >= 0x2028 && value <= 0x202e) ||
                       (value >= 0x2066 && value <= 0x2069);
    if (!whole) {
      escape('x', first, 2);
      ++i;
      continue;
    }
    if ((value < 0x20 && value != '\n' && value != '\t') || value == 0x7f) {
      escape('x', value, 2);
    } else if (order || (value >= 0x80 && value < 0xa0)) {
      escape('u', value, 4);
    } else {
      for (std::size_t k = 0; k < length; ++k) { put(s[i + k]); }
    }
    i += length;
  }
}

}  // namespace dimwise::detail
