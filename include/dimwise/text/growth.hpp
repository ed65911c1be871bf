// SPDX-License-Identifier: BSL-1.0
// dimwise/text/growth.hpp -- limits of what a tokenizer.json may ask for: the length of texts, the number of steps.
//
// Layer: text. A replacement by two letters, forty times, is a terabyte of text: a small file must not take all memory.
// Tests: tests/text/limits.test.cpp
#pragma once

#include <dimwise/io/files/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace dimwise::text::detail {

inline constexpr std::size_t most_steps = 100;            // of a normalizer, a pre_tokenizer, a decoder
inline constexpr std::size_t most_ids_around = 1024;      // of a post_processor
inline constexpr std::size_t most_in_added_token = 1024;  // bytes
inline constexpr std::size_t most_in_piece_word = 1000;   // characters of a word that WordPiece cuts

// The characters of a text that is UTF-8.
inline std::size_t characters_in(std::string_view text) {
  std::size_t n = 0;
  for (const char c : text) { n += (c & '\xC0') != '\x80' ? 1U : 0U; }
  return n;
}

// How much a text may become in all its parts together: one character in NFKD is 18 at most, one in bytes 4.
class growth {
 public:
  static constexpr std::size_t for_all = std::size_t{1} << 16;
  static constexpr std::size_t for_each = 32;

  growth(const std::string& title, std::size_t size) : title_(title), most_(for_all + for_each * size), left_(most_) {}
  // Throws where a part is longer than what is left.
  void check(std::size_t size) const {
    if (size > left_) {
      throw io::file_error(title_ + ": the text becomes longer than " + std::to_string(most_) +
                           " characters, which is the limit: " + std::to_string(for_all) + ", and " +
                           std::to_string(for_each) + " for each of its own");
    }
  }
  // A part is done.
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
