// SPDX-License-Identifier: BSL-1.0
// dimwise/text/components/added_tokens.hpp -- added tokens, which are matched before all other steps.
//
// Layer: text. The tokens are a trie of bytes. The leftmost longest token is matched, as in HuggingFace's library.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/growth.hpp>
#include <dimwise/text/models/lookup.hpp>
#include <dimwise/text/settings.hpp>
#include <dimwise/text/unicode.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dimwise::text::detail {

struct added_token {
  std::string content{};
  std::uint32_t id = 0;
  bool special = false;
  bool strips_left = false;
  bool strips_right = false;
  bool single = false;
};

class added_tokens {
 public:
  void add(added_token token) {
    begins_[static_cast<unsigned char>(token.content.front())] = true;
    std::uint32_t& index = indices_[token.content];
    // Of equals the first, special ones before others.
    if (index == byte_trie::none || (token.special && !all_[index].special)) {
      index = static_cast<std::uint32_t>(all_.size());
    }
    all_.push_back(std::move(token));
  }

  // Calls plain(begin, end) for text between tokens, and token(one) for each token, from the left.
  template <class Plain, class Token>
  void each_part(std::string_view text, const Plain& plain, const Token& token) const {
    std::size_t done = 0;
    for (std::size_t i = all_.empty() ? text.size() : 0; i < text.size();) {
      if (!begins_[static_cast<unsigned char>(text[i])]) {
        ++i;
        continue;
      }
      const auto longest = indices_.longest_at(text, i);
      if (!longest) {
        ++i;
        continue;
      }
      const added_token* const found = &all_[longest->second];
      std::size_t begin = i;
      std::size_t end = longest->first;
      i = end;  // also after a rejected match: shorter tokens are not tried
      if (found->single && ((begin > 0 && is_word_at(text, begin_of_last(text.substr(0, begin)))) ||
                            (end < text.size() && is_word_at(text, end)))) {
        continue;
      }
      if (found->strips_left) {
        while (begin > done && is_space_at(text, begin_of_last(text.substr(0, begin)))) {
          begin = begin_of_last(text.substr(0, begin));
        }
        begin = std::max(begin, done);
      }
      if (found->strips_right) {
        while (end < text.size() && is_space_at(text, end)) { end += decode_at(text, end).bytes; }
      }
      if (done < begin) { plain(done, begin); }
      if (begin >= end) { continue; }  // all spaces, which belong to the token before
      token(*found);
      done = end;
    }
    if (done < text.size()) { plain(done, text.size()); }
  }

 private:
  static bool is_word_at(std::string_view text, std::size_t i) { return is_word_character(decode_at(text, i).c); }
  static bool is_space_at(std::string_view text, std::size_t i) { return is_space(decode_at(text, i).c); }

  std::vector<added_token> all_{};
  byte_trie indices_{};
  std::array<bool, 256> begins_{};
};

}  // namespace dimwise::text::detail
