// SPDX-License-Identifier: BSL-1.0
// dimwise/text/split.hpp -- how tokenizers cut a text into words before they look them up.
//
// Layer: text. The patterns of known tokenizers are written out: a pattern that is not known is refused by its text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/unicode.hpp>

#include <optional>
#include <vector>

namespace dimwise::text {

/// The patterns of byte-level tokenizers. Their text distinguishes them.
enum class split_pattern : unsigned char { gpt2, llama3, qwen2 };

/// The pattern that a tokenizer.json spells so; nothing where it is none of them.
[[nodiscard]] inline std::optional<split_pattern> pattern_of(std::string_view regex) {
  if (regex == R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)") {
    return split_pattern::gpt2;
  }
  // The two differ in how many digits are one word.
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

// One word of a text from a place on; the alternatives of a pattern in their order.
class word_matcher {
 public:
  word_matcher(std::u32string_view text, split_pattern pattern) : text_(text), pattern_(pattern) {}

  [[nodiscard]] std::size_t end_of_word(std::size_t i) const {
    if (const std::size_t n = contraction(i); n > 0) { return i + n; }
    return pattern_ == split_pattern::gpt2 ? gpt2(i) : llama3(i);
  }

 private:
  [[nodiscard]] bool has(std::size_t i) const { return i < text_.size(); }
  template <class Is>
  [[nodiscard]] std::size_t run(std::size_t i, const Is& is) const {
    while (has(i) && is(text_[i])) { ++i; }
    return i;
  }
  static bool is_other(code_point c) { return !is_space(c) && !is_letter(c) && !is_number(c); }
  static bool is_line_end(code_point c) { return c == '\r' || c == '\n'; }

  [[nodiscard]] std::size_t contraction(std::size_t i) const {
    if (text_[i] != '\'' || !has(i + 1)) { return 0; }
    const bool any_case = pattern_ != split_pattern::gpt2;
    const auto at = [&](std::size_t k) -> code_point {
      if (!has(k)) { return 0; }
      const code_point c = text_[k];
      if (any_case && c == 0x17f) { return 's'; }  // ſ, which matches s where case is ignored
      return any_case && c >= 'A' && c <= 'Z' ? c + 32 : c;
    };
    const code_point a = at(i + 1);
    const code_point b = at(i + 2);
    if (a == 's' || a == 't') { return 2; }
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e')) { return 3; }
    if (a == 'm') { return 2; }
    if (a == 'l' && b == 'l') { return 3; }
    return a == 'd' ? 2 : 0;
  }
  // Spaces before a word leave the last one to it.
  [[nodiscard]] std::size_t spaces(std::size_t i) const {
    const std::size_t end = run(i, is_space);
    return has(end) && end - i > 1 ? end - 1 : end;
  }
  [[nodiscard]] std::size_t gpt2(std::size_t i) const {
    const std::size_t word = text_[i] == ' ' ? i + 1 : i;
    if (has(word)) {
      if (is_letter(text_[word])) { return run(word, is_letter); }
      if (is_number(text_[word])) { return run(word, is_number); }
      if (is_other(text_[word])) { return run(word, is_other); }
    }
    return spaces(i);
  }
  [[nodiscard]] std::size_t llama3(std::size_t i) const {
    const code_point c = text_[i];
    if (is_letter(c)) { return run(i, is_letter); }
    if (!is_line_end(c) && !is_number(c) && has(i + 1) && is_letter(text_[i + 1])) { return run(i + 1, is_letter); }
    if (is_number(c)) {
      const std::size_t most = pattern_ == split_pattern::llama3 ? 3 : 1;
      std::size_t end = i;
      while (has(end) && end - i < most && is_number(text_[end])) { ++end; }
      return end;
    }
    const std::size_t word = c == ' ' ? i + 1 : i;
    if (has(word) && is_other(text_[word])) { return run(run(word, is_other), is_line_end); }
    // \s*[\r\n]+: up to the last line end among the spaces that follow
    const std::size_t end = run(i, is_space);
    for (std::size_t last = end; last > i; --last) {
      if (is_line_end(text_[last - 1])) { return last; }
    }
    return spaces(i);
  }

  std::u32string_view text_;
  split_pattern pattern_;
};

}  // namespace detail

/// The words of a text by a pattern: every code point is in one.
[[nodiscard]] inline std::vector<std::u32string> words_by(split_pattern pattern, std::u32string_view text) {
  std::vector<std::u32string> words;
  const detail::word_matcher match(text, pattern);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = match.end_of_word(i);
    words.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return words;
}

/// BERT's words: between spaces, each punctuation sign by itself.
[[nodiscard]] inline std::vector<std::u32string> bert_words(std::u32string_view text) {
  std::vector<std::u32string> words;
  bool open = false;
  for (const code_point c : text) {
    if (is_space(c)) {
      open = false;
    } else if (is_punctuation(c)) {
      words.emplace_back(1, c);
      open = false;
    } else {
      if (!open) { words.emplace_back(); }
      words.back() += c;
      open = true;
    }
  }
  return words;
}

/// The code point that represents a byte in byte-level vocabularies. A printable byte represents itself.
[[nodiscard]] inline code_point sign_of_byte(unsigned char byte) {
  const auto shown = [](unsigned b) { return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174; };
  if (shown(byte)) { return byte; }
  code_point sign = 256;
  for (unsigned b = 0; b < byte; ++b) { sign += shown(b) ? 0 : 1; }
  return sign;
}

}  // namespace dimwise::text
