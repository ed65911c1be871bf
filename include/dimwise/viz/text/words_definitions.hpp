// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/text/words_definitions.hpp -- escaping of arbitrary bytes.
//
// Layer: viz. Compiled once if a program links the library (support/library.hpp).
// Tests: tests/viz/names.test.cpp
#pragma once

#include <dimwise/viz/text/words.hpp>

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY code_point code_point_at(std::string_view s, std::size_t i) {
  if (code_points_read != nullptr) { ++*code_points_read; }
  const auto byte = [&](std::size_t at) { return static_cast<char32_t>(static_cast<unsigned char>(s[at])); };
  const char32_t first = byte(i);
  if (first < 0x80) { return {first, 1}; }
  const std::size_t n = first >= 0xF0 ? 4 : (first >= 0xE0 ? 3 : 2);
  if (first < 0xC2 || first > 0xF4 || i + n > s.size()) { return {0, 0}; }
  char32_t value = first & (0xFFU >> (n + 1));
  for (std::size_t k = 1; k < n; ++k) {
    if ((byte(i + k) & 0xC0U) != 0x80) { return {0, 0}; }
    value = (value << 6) | (byte(i + k) & 0x3FU);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < least[n] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) { return {0, 0}; }
  return {value, n};
}

DIMWISE_DETAIL_LIBRARY bool is_unseen(char32_t c) {
  return (c >= 0x80 && c < 0xA0) || c == 0xAD || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c & 0xFFFEU) == 0xFFFE;
}

DIMWISE_DETAIL_LIBRARY std::string visible(std::string_view s) {
  std::string all;
  for (std::size_t i = 0; i < s.size();) {
    const code_point c = code_point_at(s, i);
    if (c.bytes == 0 || is_unseen(c.value)) {
      all += "\xEF\xBF\xBD";
    } else if (c.value < 0x20 || c.value == 0x7F) {
      all += "\xE2\x90";
      all += static_cast<char>(c.value == 0x7F ? 0xA1 : 0x80 + c.value);
    } else {
      all.append(s, i, c.bytes);
    }
    i += c.bytes == 0 ? 1 : c.bytes;
  }
  return all;
}

DIMWISE_DETAIL_LIBRARY std::size_t columns_of(std::string_view s) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < s.size();) {
    const code_point c = code_point_at(s, i);
    const char32_t v = c.value;
    const bool joins = v >= 0x300 && v < 0x370;  // combining accents
    const bool wide = (v >= 0x1100 && v < 0x1160) || (v >= 0x2E80 && v < 0xA4D0) || (v >= 0xAC00 && v < 0xD7A4) ||
                      (v >= 0xF900 && v < 0xFB00) || (v >= 0xFF00 && v < 0xFF61) || (v >= 0x1F300 && v < 0x1FB00) ||
                      (v >= 0x20000 && v < 0x40000);
    n += joins ? 0U : (wide ? 2U : 1U);
    i += c.bytes == 0 ? 1 : c.bytes;
  }
  return n;
}

DIMWISE_DETAIL_LIBRARY std::string shortened(const std::string& s, std::size_t columns) {
  if (columns_of(s) <= columns) { return s; }
  std::string all;
  std::size_t taken = 0;  // counted on: there may be thousands of accents in a column
  for (std::size_t i = 0; i < s.size();) {
    const std::size_t n = code_point_at(s, i).bytes == 0 ? 1 : code_point_at(s, i).bytes;
    taken += columns_of(std::string_view(s).substr(i, n));
    if (taken + 1 > columns) { break; }
    all.append(s, i, n);
    i += n;
  }
  return all + "…";
}

DIMWISE_DETAIL_LIBRARY std::string replaced(std::string_view s, std::string_view from, const char* const* to) {
  std::string all;
  for (const char c : visible(s)) {
    const std::size_t at = from.find(c);
    if (at == std::string_view::npos) {
      all += c;
    } else {
      all += to[at];
    }
  }
  return all;
}

DIMWISE_DETAIL_LIBRARY std::string in_xml(std::string_view s) {
  static constexpr const char* to[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  return replaced(s, "&<>\"'", to);
}

DIMWISE_DETAIL_LIBRARY std::string in_json(std::string_view s) {
  static constexpr const char* to[] = {"\\\"", "\\\\", "\\u003c", "\\u003e", "\\u0026"};
  return '"' + replaced(s, "\"\\<>&", to) + '"';
}

DIMWISE_DETAIL_LIBRARY std::string in_dot(std::string_view s) {
  static constexpr const char* to[] = {"\\\"", "\\\\"};
  return '"' + replaced(s, "\"\\", to) + '"';
}

DIMWISE_DETAIL_LIBRARY std::string in_markdown(std::string_view s) {
  static constexpr const char* to[] = {"\\|", "&lt;", "&amp;", "\\*", "\\_", "\\`", "\\\\"};
  return replaced(s, "|<&*_`\\", to);
}

}  // namespace dimwise::detail
