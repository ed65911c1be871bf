// SPDX-License-Identifier: BSL-1.0
// dimwise/text/components/precompiled.hpp -- the character map of sentencepiece: a double-array trie of keys (Yata et
// al. 2007) and their replacements.
//
// Layer: text. Every step through the array is bounds-checked, because the file may contain any values.
// Tests: tests/text/components.test.cpp
#pragma once

#include <dimwise/text/growth.hpp>
#include <dimwise/text/settings.hpp>
#include <dimwise/text/unicode.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dimwise::text::detail {

// The bytes of a base64 string.
inline std::string bytes_of_base64(const reader& r, std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string all;
  std::uint32_t bits = 0;
  const auto refuse = [&] { r.refuse("the precompiled_charsmap is not base64"); };
  if (text.size() % 4 != 0) { refuse(); }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool padding = text[i] == '=' && (i + 1 == text.size() || (i + 2 == text.size() && text[i + 1] == '='));
    const std::size_t digit = padding ? 0 : digits.find(text[i]);
    if (digit == digits.npos) { refuse(); }
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    if (i % 4 != 3) { continue; }
    for (const int shift : {16, 8, 0}) { all += static_cast<char>((bits >> shift) & 0xffU); }
    bits = 0;
  }
  for (std::size_t n = 0; n < 2 && text.ends_with('='); ++n) {
    all.pop_back();
    text.remove_suffix(1);
  }
  return all;
}

class character_map {
 public:
  character_map(const reader& r, std::string_view bytes) {
    const auto number = [&](std::size_t at) {
      std::uint32_t n = 0;
      for (std::size_t k = 0; k < 4; ++k) { n |= std::uint32_t{static_cast<unsigned char>(bytes[at + k])} << (8 * k); }
      return n;
    };
    const std::size_t size = bytes.size() < 4 ? 0 : number(0);
    if (bytes.size() < 4 || size % 4 != 0 || size > bytes.size() - 4) {
      r.refuse("the precompiled_charsmap is shorter than its array");
    }
    for (std::size_t at = 4; at < 4 + size; at += 4) { units_.push_back(number(at)); }
    texts_ = bytes.substr(4 + size);
    if (first_invalid_utf8(texts_)) { r.refuse("the precompiled_charsmap has replacements that are not UTF-8"); }
  }

  // Graphemes of fewer than six bytes are looked up as a whole, others by code point, as in HuggingFace's library.
  [[nodiscard]] std::string mapped(std::string_view text, const growth& limit) const {
    std::string all;
    utf8proc_int32_t state = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      auto [c, bytes, valid] = decode_at(text, begin);
      std::size_t end = begin + bytes;
      for (code_point before = c; end < text.size();) {
        const auto [next, more, is_valid] = decode_at(text, end);
        if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before), static_cast<utf8proc_int32_t>(next),
                                             &state)) {
          break;
        }
        before = next;
        end += more;
      }
      const std::string_view grapheme = text.substr(begin, end - begin);
      const auto whole = grapheme.size() < 6 ? found(grapheme) : std::nullopt;
      if (whole) {
        all += *whole;
      } else {
        for (std::size_t i = 0; i < grapheme.size();) {
          const std::string_view point = grapheme.substr(i, decode_at(grapheme, i).bytes);
          all += found(point).value_or(point);
          i += point.size();
        }
      }
      limit.check(all.size() / 4);
      begin = end;
    }
    return all;
  }

  // The longest key with which the text begins, and its replacement, as in sentencepiece itself.
  struct rule {
    std::size_t bytes;
    std::string_view to;
  };
  [[nodiscard]] std::optional<rule> longest(std::string_view text) const {
    std::optional<rule> last;
    each_key(text, [&](std::size_t bytes, std::optional<std::string_view> to) {
      if (to) { last = {bytes, *to}; }
      return true;
    });
    return last;
  }

 private:
  // The replacement of the shortest key that is a prefix of the bytes.
  [[nodiscard]] std::optional<std::string_view> found(std::string_view key) const {
    std::optional<std::string_view> first;
    each_key(key.substr(0, key.find('\0')), [&](std::size_t, std::optional<std::string_view> to) {
      first = to;
      return false;
    });
    return first;
  }
  // Calls next(bytes, replacement) for each key with which the text begins, the shortest first, until it returns
  // false. A value of the array that does not point at a replacement gives `nullopt`.
  template <class Next>
  void each_key(std::string_view text, const Next& next) const {
    const auto offset = [](std::uint32_t unit) { return (unit >> 10) << ((unit & (1U << 9)) >> 6); };
    if (units_.empty()) { return; }
    std::size_t at = offset(units_[0]);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      at ^= c;
      if (at >= units_.size() || (units_[at] & ((1U << 31) | 0xffU)) != c) { return; }
      const std::uint32_t unit = units_[at];
      at ^= offset(unit);
      if (((unit >> 8) & 1U) == 0) { continue; }
      if (!next(i + 1, at < units_.size() ? text_at(units_[at] & ((1U << 31) - 1)) : std::nullopt)) { return; }
    }
  }
  [[nodiscard]] std::optional<std::string_view> text_at(std::size_t begin) const {
    if (begin > texts_.size() || (begin < texts_.size() && (texts_[begin] & '\xC0') == '\x80')) { return std::nullopt; }
    return std::string_view(texts_).substr(begin, texts_.find('\0', begin) - begin);
  }

  std::vector<std::uint32_t> units_{};
  std::string texts_{};
};

}  // namespace dimwise::text::detail
