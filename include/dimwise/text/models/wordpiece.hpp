// SPDX-License-Identifier: BSL-1.0
// dimwise/text/models/wordpiece.hpp -- the model WordPiece of a tokenizer.json.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/growth.hpp>
#include <dimwise/text/models/vocabulary.hpp>
#include <dimwise/text/unicode.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace dimwise::text::detail {

// The leftmost longest pieces (Wu et al. 2016); those after the first have a prefix.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // the pointer owns nothing
class wordpiece_model {
 public:
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
  void operator()(std::string_view word, ids& to) const {
    const std::size_t before = to.size();
    const auto points = std::count_if(word.begin(), word.end(), [](char c) { return (c & '\xC0') != '\x80'; });
    bool known = static_cast<std::size_t>(points) <= longest_;
    std::string rest;
    for (std::size_t i = 0; known && i < word.size();) {
      std::string_view piece = word.substr(i);
      std::size_t prefix = 0;
      if (i > 0) {
        rest.assign(prefix_).append(piece);
        piece = rest;
        prefix = prefix_.size();
      }
      std::optional<std::uint32_t> found;
      while (piece.size() > prefix && !(found = words_->find(piece))) { piece = piece.substr(0, begin_of_last(piece)); }
      known = found.has_value();
      if (known) {
        to.push_back(*found);
        i += piece.size() - prefix;
      }
    }
    if (!known) {
      to.resize(before);
      to.push_back(unknown_);
    }
  }

 private:
  const vocabulary* words_;
  std::string prefix_{};
  std::uint32_t unknown_ = 0;
  std::size_t longest_ = 100;
};
#pragma GCC diagnostic pop

}  // namespace dimwise::text::detail
