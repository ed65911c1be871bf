// SPDX-License-Identifier: BSL-1.0
// dimwise/text/unicode.hpp -- code points, their properties and normal forms: the part of Unicode that tokenizers need.
//
// Layer: text. Third party: utf8proc.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/io/files/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utf8proc.h>

namespace dimwise::text {

/// A Unicode code point.
using code_point = char32_t;

/// Appends a code point to `to` as UTF-8.
inline void append(std::string& to, code_point c) {
  utf8proc_uint8_t bytes[4];
  const auto n = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
  to.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n));
}

namespace detail {

// The code point at `at` and its number of bytes; U+FFFD for invalid UTF-8, with the bytes that begin a sequence.
struct decoded_point {
  code_point c;
  std::size_t bytes;
  bool valid;
};
inline decoded_point decode_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[at + k]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) { return {static_cast<code_point>(lead), 1, true}; }
  const std::size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  std::size_t taken = 1;
  std::uint32_t c = length == 0 ? 0 : lead & (0xffU >> (length + 1));
  for (; taken < length && at + taken < text.size(); ++taken) {
    const unsigned next = byte(taken);
    unsigned least = 0x80;
    unsigned most = 0xbf;
    if (taken == 1) {  // overlong, a surrogate, or beyond U+10FFFF
      least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
      most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    }
    if (next < least || next > most) { break; }
    c = (c << 6) | (next & 0x3fU);
  }
  const bool valid = length != 0 && taken == length;
  return {valid ? static_cast<code_point>(c) : U'\ufffd', taken, valid};
}

}  // namespace detail

/// The code points of a text. Invalid UTF-8 becomes U+FFFD, one for each begun sequence, as in browsers.
[[nodiscard]] inline std::u32string decoded(std::string_view text) {
  std::u32string all;
  all.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto [c, bytes, valid] = detail::decode_at(text, at);
    all += c;
    at += bytes;
  }
  return all;
}
/// The index of the first invalid byte; `nullopt` for valid UTF-8.
[[nodiscard]] inline std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto [c, bytes, valid] = detail::decode_at(text, at);
    if (!valid) { return at; }
    at += bytes;
  }
  return std::nullopt;
}
[[nodiscard]] inline std::string encoded(std::u32string_view text) {
  std::string all;
  all.reserve(text.size());
  for (const code_point c : text) { append(all, c); }
  return all;
}

namespace detail {

// The index of the last code point of a valid, nonempty text.
inline std::size_t begin_of_last(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80) { --at; }
  return at;
}
// The text with U+FFFD for invalid UTF-8.
inline std::string as_utf8(std::string_view text) {
  const auto wrong = first_invalid_utf8(text);
  if (!wrong) { return std::string(text); }
  std::string all(text.substr(0, *wrong));
  for (std::size_t at = *wrong; at < text.size();) {
    const auto [c, bytes, valid] = decode_at(text, at);
    append(all, c);
    at += bytes;
  }
  return all;
}

}  // namespace detail

/// Whether a code point is a letter, a number, an accent.
[[nodiscard]] inline bool is_letter(code_point c) {
  const auto k = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}
[[nodiscard]] inline bool is_number(code_point c) {
  const auto k = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO;
}
[[nodiscard]] inline bool is_accent(code_point c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_MN;
}
/// Marks: accents (Mn), spacing marks (Mc) and enclosing marks (Me).
[[nodiscard]] inline bool is_mark(code_point c) {
  const auto k = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return k == UTF8PROC_CATEGORY_MN || k == UTF8PROC_CATEGORY_MC || k == UTF8PROC_CATEGORY_ME;
}
/// The word characters of Rust's regular expressions: Alphabetic, marks, decimal digits, connectors (Pc), joiners.
[[nodiscard]] inline bool is_word_character(code_point c) {
  const auto k = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  // Symbols that are Alphabetic only by Other_Alphabetic: circled and squared letters.
  const bool letter_sign = (c >= 0x24b6 && c <= 0x24e9) || (c >= 0x1f130 && c <= 0x1f149) ||
                           (c >= 0x1f150 && c <= 0x1f169) || (c >= 0x1f170 && c <= 0x1f189);
  return is_letter(c) || is_mark(c) || k == UTF8PROC_CATEGORY_ND || k == UTF8PROC_CATEGORY_NL ||
         k == UTF8PROC_CATEGORY_PC || c == 0x200c || c == 0x200d || letter_sign;
}
/// The Unicode property White_Space.
[[nodiscard]] inline bool is_space(code_point c) {
  return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}
/// The characters that BERT isolates: Unicode punctuation and ASCII symbols.
[[nodiscard]] inline bool is_punctuation(code_point c) {
  if ((c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126)) { return true; }
  const auto k = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO;
}
/// The characters that BERT removes: controls, formats, surrogates and private code points.
[[nodiscard]] inline bool is_control(code_point c) {
  if (c == '\t' || c == '\n' || c == '\r') { return false; }
  const auto k = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return k == UTF8PROC_CATEGORY_CC || k == UTF8PROC_CATEGORY_CF || k == UTF8PROC_CATEGORY_CO ||
         k == UTF8PROC_CATEGORY_CS;
}
/// The ideographs that BertNormalizer surrounds with spaces; HuggingFace's library leaves out U+2B820 to U+2B91F.
[[nodiscard]] inline bool is_ideograph(code_point c) {
  return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x20000 && c <= 0x2a6df) ||
         (c >= 0x2a700 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) || (c >= 0xf900 && c <= 0xfaff) ||
         (c >= 0x2f800 && c <= 0x2fa1f);
}
/// The lower-case form of each code point.
[[nodiscard]] inline std::string lowered(std::string_view text) {
  std::string all;
  all.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto [c, bytes, valid] = detail::decode_at(text, i);
    if (c < 0x80) {
      all += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    } else if (c == 0x130) {
      all += "i\xCC\x87";  // the only code point with two lower-case code points
    } else {
      append(all, static_cast<code_point>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    }
    i += bytes;
  }
  return all;
}

/// The Unicode normal forms.
enum class normal_form : unsigned char { nfc, nfd, nfkc, nfkd };
[[nodiscard]] inline std::string normalised(std::string_view from, normal_form form) {
  if (std::all_of(from.begin(), from.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    return std::string(from);  // ASCII is equal in all forms
  }
  int options = UTF8PROC_STABLE;
  options |= form == normal_form::nfc || form == normal_form::nfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == normal_form::nfkc || form == normal_form::nfkd) { options |= UTF8PROC_COMPAT; }
  utf8proc_uint8_t* made = nullptr;
  const auto n =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(from.data()), static_cast<utf8proc_ssize_t>(from.size()),
                   &made, static_cast<utf8proc_option_t>(options));
  if (n < 0) { throw io::file_error(std::string("a text cannot be normalised: ") + utf8proc_errmsg(n)); }
  std::string result(reinterpret_cast<const char*>(made), static_cast<std::size_t>(n));
  std::free(made);  // NOLINT: utf8proc allocates by malloc
  return result;
}

}  // namespace dimwise::text
