// SPDX-License-Identifier: BSL-1.0
// dimwise/text/wordpiece.hpp -- the model WordPiece of a tokenizer.json.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/growth.hpp>
#include <dimwise/text/unicode.hpp>
#include <dimwise/text/vocabulary.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace dimwise::text::detail {

// The longest pieces from the left (Wu et al. 2016); those behind the first have a prefix.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // the pointer owns nothing
class wordpiece_model {
 public:
  wordpiece_model() = default;
  wordpiece_model(const reader& r, const json& from, const vocabulary& words) : words_(&words) {
    prefix_ = r.word(from, "continuing_subword_prefix", "model");
    const auto unknown = words.find(r.word(from, "unk_token", "model"));
    if (!unknown) { r.refuse("the model's unk_token is not in the vocabulary"); }
    unknown_ = *unknown;
    if (from.contains("max_input_chars_per_word")) {
      longest_ = r.id(from.at("max_input_chars_per_word"), "max_input_chars_per_word");
      if (longest_ > most_in_piece_word) {
        r.refuse("the model's max_input_chars_per_word is " + std::to_string(longest_) + ", more than " +
                 std::to_string(most_in_piece_word) + " is not supported");
      }
    }
  }
  [[nodiscard]] ids operator()(const std::u32string& word) const {
    if (word.size() > longest_) { return {unknown_}; }
    ids all;
    for (std::size_t i = 0; i < word.size();) {
      const std::string rest = (i > 0 ? prefix_ : "") + encoded(std::u32string_view(word).substr(i));
      std::string_view piece = rest;
      std::size_t end = word.size();
      std::optional<std::uint32_t> found;
      while (end > i && !(found = words_->find(piece))) {
        --end;
        std::string last;
        append(last, word[end]);
        piece.remove_suffix(last.size());
      }
      if (!found) { return {unknown_}; }
      all.push_back(*found);
      i = end;
    }
    return all;
  }

 private:
  const vocabulary* words_ = nullptr;
  std::string prefix_{};
  std::uint32_t unknown_ = 0;
  std::size_t longest_ = 100;
};
#pragma GCC diagnostic pop

}  // namespace dimwise::text::detail
