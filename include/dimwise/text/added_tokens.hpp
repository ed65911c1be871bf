// SPDX-License-Identifier: BSL-1.0
// dimwise/text/added_tokens.hpp -- words that were added to a vocabulary, found in a text before all else.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/unicode.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace dimwise::text::detail {

struct added_token {
  std::u32string content;
  std::uint32_t id = 0;
  bool special = false;
  bool strips_left = false;
  bool strips_right = false;
  bool single = false;
};

// Parts of a text: pieces between added words, and these.
struct part_of_text {
  std::u32string text;
  const added_token* word = nullptr;
};

inline std::vector<part_of_text> parts_by(const std::vector<added_token>& words, const std::u32string& text) {
  std::vector<part_of_text> parts;
  const auto in_word = [&](std::size_t i) { return i < text.size() && is_word_character(text[i]); };
  // By their first characters: a file may have a hundred thousand.
  std::unordered_map<code_point, std::vector<const added_token*>> starting_with;
  for (const added_token& w : words) { starting_with[w.content.front()].push_back(&w); }
  std::size_t begin = 0;
  const auto close = [&](std::size_t end) {
    if (end > begin) { parts.push_back({text.substr(begin, end - begin)}); }
  };
  for (std::size_t i = 0; i < text.size();) {
    const added_token* best = nullptr;
    const auto here = starting_with.find(text[i]);
    if (here == starting_with.end()) {
      ++i;
      continue;
    }
    for (const added_token* const candidate : here->second) {
      const added_token& w = *candidate;
      if ((best == nullptr || w.content.size() > best->content.size()) &&
          text.compare(i, w.content.size(), w.content) == 0) {
        best = &w;
      }
    }
    if (best == nullptr) {
      ++i;
      continue;
    }
    std::size_t first = i;
    i += best->content.size();
    // As HuggingFace does: no shorter token is looked for where the longest one is not a word of its own.
    if (best->single && ((first > 0 && in_word(first - 1)) || in_word(i))) { continue; }
    if (best->strips_left) {
      while (first > begin && is_space(text[first - 1])) { --first; }
    }
    if (best->strips_right) {
      while (i < text.size() && is_space(text[i])) { ++i; }
    }
    close(first);
    parts.push_back({best->content, best});
    begin = i;
  }
  close(text.size());
  return parts;
}

}  // namespace dimwise::text::detail
