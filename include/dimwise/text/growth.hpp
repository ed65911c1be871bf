// SPDX-License-Identifier: BSL-1.0
// dimwise/text/growth.hpp -- limits for a tokenizer.json: the length of texts and the number of steps.
//
// Layer: text. Forty replacements of one letter by two make a terabyte of text: a small file must not exhaust memory.
// Tests: tests/text/limits.test.cpp
#pragma once

#include <dimwise/io/files/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace dimwise::text::detail {

inline constexpr std::size_t most_steps = 100;            // of a normalizer, pre-tokenizer or decoder
inline constexpr std::size_t most_ids_around = 1024;      // of a post_processor
inline constexpr std::size_t most_in_added_token = 1024;  // bytes
inline constexpr std::size_t most_in_piece_word = 1000;   // characters of a word for WordPiece

// The number of characters of a UTF-8 text.
inline std::size_t characters_in(std::string_view text) {
  std::size_t n = 0;
  for (const char c : text) { n += (c & '\xC0') != '\x80' ? 1U : 0U; }
  return n;
}

// The maximum length of all parts of a text together. One character becomes at most 18 in NFKD, and has at most 4
// bytes.
class growth {
 public:
  static constexpr std::size_t for_all = std::size_t{1} << 16;
  static constexpr std::size_t for_each = 32;

  growth(const std::string& title, std::size_t size) : title_(title), most_(for_all + for_each * size), left_(most_) {}
  // Throws if a part is longer than the remaining length.
  void check(std::size_t size) const {
    if (size > left_) {
      throw io::file_error(title_ + ": the text becomes longer than " + std::to_string(most_) +
                           " characters, which is the limit: " + std::to_string(for_all) + ", and " +
                           std::to_string(for_each) + " for each of its characters");
    }
  }
  // Adds a finished part.
  void spend(std::size_t size) {
    check(size);
    left_ -= size;
  }

 private:
  const std::string& title_;
  std::size_t most_;
  std::size_t left_;
};

}  // namespace dimwise::text::detail
