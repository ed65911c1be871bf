// SPDX-License-Identifier: BSL-1.0
// dimwise/support/messages/escaped.hpp -- escapes text from outside, such as names in files, before it is part of a
// message.
//
// Layer: support. A file must not be able to move the cursor of a terminal or to reverse the order of its text.
//
//   say_escaped("a\x1b[2Jb", 6, put);    // puts a\x1b[2Jb as nine printable characters
//
// Tests: tests/tensor/errors.test.cpp
#pragma once

#include <cstddef>

namespace dimwise::detail {

// Calls put(c) for each byte of the escaped text: \x1b for control characters, \u202e for C1 controls and Unicode's
// bidirectional and line controls, \xff for bytes that are not valid UTF-8. Keeps line breaks and tabs.
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
    bool is_valid = first < 0x80 || (first >= 0xc2 && first <= 0xf4);
    unsigned value = first & (length == 1 ? 0x7fU : 0xffU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      is_valid = is_valid && (byte(i + k) & 0xc0U) == 0x80;
      value = value << 6 | (byte(i + k) & 0x3fU);
    }
    const bool is_layout_control = value == 0x61c || value == 0x200e || value == 0x200f ||
                                   (value >= 0x2028 && value <= 0x202e) || (value >= 0x2066 && value <= 0x2069);
    if (!is_valid) {
      escape('x', first, 2);
      ++i;
      continue;
    }
    if ((value < 0x20 && value != '\n' && value != '\t') || value == 0x7f) {
      escape('x', value, 2);
    } else if (is_layout_control || (value >= 0x80 && value < 0xa0)) {
      escape('u', value, 4);
    } else {
      for (std::size_t k = 0; k < length; ++k) { put(s[i + k]); }
    }
    i += length;
  }
}

}  // namespace dimwise::detail
