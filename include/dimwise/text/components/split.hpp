// SPDX-License-Identifier: BSL-1.0
// dimwise/text/components/split.hpp -- the known split patterns of byte-level tokenizers, without a regex engine.
//
// Layer: text. Other patterns are matched by PCRE2 (regex.hpp).
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/unicode.hpp>

#include <array>
#include <optional>

namespace dimwise::text {

/// The known patterns of byte-level tokenizers, recognised by their text.
enum class split_pattern : unsigned char { gpt2, llama3, qwen2 };

/// The known pattern with this regular expression; `nullopt` for others.
[[nodiscard]] inline std::optional<split_pattern> pattern_of(std::string_view regex) {
  if (regex == R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)") {
    return split_pattern::gpt2;
  }
  // The two differ in the maximum number of digits in a piece.
  constexpr std::string_view begin = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})";
  constexpr std::string_view end = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  if (!regex.starts_with(begin) || !regex.ends_with(end) || regex.size() < begin.size() + end.size()) {
    return std::nullopt;
  }
  const std::string_view digits = regex.substr(begin.size(), regex.size() - begin.size() - end.size());
  if (digits == "{1,3}") { return split_pattern::llama3; }
  if (digits.empty()) { return split_pattern::qwen2; }
  return std::nullopt;
}

namespace detail {

// The character classes of the patterns.
enum class character_kind : unsigned char { letter, number, space, other };

struct character {
  code_point c;
  std::size_t bytes;
  character_kind kind;
};

inline character_kind kind_of(code_point c) {
  if (is_letter(c)) { return character_kind::letter; }
  if (is_number(c)) { return character_kind::number; }
  return is_space(c) ? character_kind::space : character_kind::other;
}
inline character character_at(std::string_view text, std::size_t i) {
  static const auto ascii = [] {
    std::array<character_kind, 128> all{};
    for (unsigned c = 0; c < 128; ++c) { all[c] = kind_of(c); }
    return all;
  }();
  const auto lead = static_cast<unsigned char>(text[i]);
  if (lead < 128) { return {lead, 1, ascii[lead]}; }
  const auto [c, bytes, valid] = decode_at(text, i);
  return {c, bytes, kind_of(c)};
}

// One match from an offset; the alternatives of a pattern in their order.
class word_matcher {
 public:
  word_matcher(std::string_view text, split_pattern pattern) : text_(text), pattern_(pattern) {}

  [[nodiscard]] std::size_t end_of_word(std::size_t i) const {
    if (const std::size_t n = contraction(i); n > 0) { return i + n; }
    return pattern_ == split_pattern::gpt2 ? gpt2(i) : llama3(i);
  }

 private:
  [[nodiscard]] bool has(std::size_t i) const { return i < text_.size(); }
  [[nodiscard]] std::size_t run(std::size_t i, character_kind kind) const {
    while (has(i)) {
      const character next = character_at(text_, i);
      if (next.kind != kind) { break; }
      i += next.bytes;
    }
    return i;
  }
  [[nodiscard]] static bool is_line_end(char c) { return c == '\r' || c == '\n'; }
  [[nodiscard]] std::size_t line_ends(std::size_t i) const {
    while (has(i) && is_line_end(text_[i])) { ++i; }
    return i;
  }

  [[nodiscard]] std::size_t contraction(std::size_t i) const {
    if (text_[i] != '\'' || !has(i + 1)) { return 0; }
    const bool any_case = pattern_ != split_pattern::gpt2;
    if (any_case && text_.substr(i + 1, 2) == "\xC5\xBF") { return 3; }  // ſ, which matches s case-insensitively
    const auto at = [&](std::size_t k) {
      const char c = has(k) ? text_[k] : '\0';
      return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    };
    const char a = at(i + 1);
    const char b = at(i + 2);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') { return 2; }
    return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ? 3 : 0;
  }
  // The last space before a word belongs to the word.
  [[nodiscard]] std::size_t spaces(std::size_t i) const {
    std::size_t end = i;
    std::size_t last = i;
    while (has(end)) {
      const character next = character_at(text_, end);
      if (next.kind != character_kind::space) { break; }
      last = end;
      end += next.bytes;
    }
    return has(end) && last > i ? last : end;
  }
  [[nodiscard]] std::size_t gpt2(std::size_t i) const {
    const std::size_t word = text_[i] == ' ' ? i + 1 : i;
    if (has(word)) {
      const character first = character_at(text_, word);
      if (first.kind != character_kind::space) { return run(word + first.bytes, first.kind); }
    }
    return spaces(i);
  }
  [[nodiscard]] std::size_t llama3(std::size_t i) const {
    const character c = character_at(text_, i);
    const std::size_t after = i + c.bytes;
    if (c.kind == character_kind::letter) { return run(after, character_kind::letter); }
    if (c.kind == character_kind::number) {
      std::size_t end = after;
      for (std::size_t n = pattern_ == split_pattern::llama3 ? 3 : 1; n > 1 && has(end); --n) {
        const character next = character_at(text_, end);
        if (next.kind != character_kind::number) { break; }
        end += next.bytes;
      }
      return end;
    }
    if (!is_line_end(text_[i]) && has(after)) {
      const character next = character_at(text_, after);
      if (next.kind == character_kind::letter) { return run(after + next.bytes, character_kind::letter); }
    }
    const std::size_t word = text_[i] == ' ' ? i + 1 : i;
    if (has(word)) {
      const character first = character_at(text_, word);
      if (first.kind == character_kind::other) { return line_ends(run(word + first.bytes, character_kind::other)); }
    }
    // \s*[\r\n]+: up to the last line end of the following spaces
    const std::size_t end = run(i, character_kind::space);
    for (std::size_t last = end; last > i; --last) {
      if (is_line_end(text_[last - 1])) { return last; }
    }
    return spaces(i);
  }

  std::string_view text_;
  split_pattern pattern_;
};

// Calls f(begin, end) for each match of a pattern; the matches cover every byte.
template <class F>
void each_word(split_pattern pattern, std::string_view text, const F& f) {
  const word_matcher match(text, pattern);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = match.end_of_word(i);
    f(i, end);
    i = end;
  }
}

}  // namespace detail

/// The code point that represents a byte in byte-level vocabularies. A printable byte represents itself.
[[nodiscard]] inline code_point sign_of_byte(unsigned char byte) {
  const auto shown = [](unsigned b) { return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174; };
  if (shown(byte)) { return byte; }
  code_point sign = 256;
  for (unsigned b = 0; b < byte; ++b) { sign += shown(b) ? 0U : 1U; }
  return sign;
}

}  // namespace dimwise::text
