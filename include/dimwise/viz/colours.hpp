// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/colours.hpp -- one colour for each dimension, by its name; on a terminal only where it is wanted.
//
// Layer: viz. A name has the same of eight colours in every text and picture, unless two names of one picture would
// share it: then the later one takes the next that is free. Merged dimensions have no colour; their factors do.
// Tests: tests/viz/print.test.cpp
#pragma once

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace dimwise::detail {

inline constexpr std::size_t colour_count = 8;

inline bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// f(word, begin) for each word of letters, digits and underscores.
template <class F>
void each_word(const std::string& s, const F& f) {
  for (std::size_t i = 0; i < s.size();) {
    std::size_t end = i;
    while (end < s.size() && is_letter(s[end])) { ++end; }
    if (end > i) { f(s.substr(i, end - i), i); }
    i = end + (end == i ? 1 : 0);
  }
}

// The colours of the dimensions in one text or picture.
class dimension_colours {
 public:
  // Takes note of a dimension: "seq", "prime<seq>", "merged<heads, d_k>".
  void add(const std::string& dimension) {
    each_word(dimension, [&](const std::string& word, std::size_t) {
      const bool made = word == "merged" || word == "summed" || word == "prime" || word == "out" || word == "divided";
      if (made || std::isdigit(static_cast<unsigned char>(word[0])) != 0 || find(word) != none) { return; }
      std::uint32_t hash = 2166136261U;  // FNV-1a
      for (const char c : word) { hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U; }
      std::size_t colour = (hash ^ (hash >> 15)) % colour_count;
      for (std::size_t tries = 0; tries < colour_count && taken(colour); ++tries) {
        colour = (colour + 1) % colour_count;
      }
      known_.emplace_back(word, colour);
    });
  }
  // The colour of a dimension: of a composite that of its first factor.
  [[nodiscard]] std::size_t of(const std::string& dimension) const {
    std::size_t colour = none;
    each_word(dimension, [&](const std::string& word, std::size_t) { colour = colour == none ? find(word) : colour; });
    return colour == none ? 0 : colour;
  }
  // The text with the names of these dimensions in their colours, for a terminal.
  [[nodiscard]] std::string painted(const std::string& text) const {
    static constexpr const char* codes[colour_count] = {"33", "172", "35", "170", "37", "204", "106", "141"};
    std::string all;
    std::size_t done = 0;
    each_word(text, [&](const std::string& word, std::size_t begin) {
      const std::size_t colour = find(word);
      if (colour == none) { return; }
      all.append(text, done, begin - done);
      all += std::string("\x1b[38;5;") + codes[colour] + "m" + word + "\x1b[0m";
      done = begin + word.size();
    });
    return all.append(text, done, std::string::npos);
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  [[nodiscard]] std::size_t find(const std::string& word) const {
    for (const auto& [name, colour] : known_) {
      if (name == word) { return colour; }
    }
    return none;
  }
  [[nodiscard]] bool taken(std::size_t colour) const {
    if (known_.size() >= colour_count) { return false; }
    for (const auto& [name, other] : known_) {
      if (other == colour) { return true; }
    }
    return false;
  }
  std::vector<std::pair<std::string, std::size_t>> known_;
};

// Colour is for people who want it: https://no-color.org
inline bool colour_wanted(bool terminal, const char* no_color, const char* term) {
  return terminal && (no_color == nullptr || *no_color == '\0') && (term == nullptr || std::string(term) != "dumb");
}
// Only the program's own output can be a terminal.
inline bool shows_colour([[maybe_unused]] const std::streambuf* out) {
  bool terminal = false;
#if __has_include(<unistd.h>)
  terminal = (out == std::cout.rdbuf() && isatty(1) == 1) || (out == std::cerr.rdbuf() && isatty(2) == 1);
#endif
  return colour_wanted(terminal, std::getenv("NO_COLOR"), std::getenv("TERM"));
}

// Text that names dimensions, for a stream: in colour where that is a terminal.
struct coloured_text {
  std::string text;
  dimension_colours colours;

  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const coloured_text& t) {
    const std::string s = shows_colour(out.rdbuf()) ? t.colours.painted(t.text) : t.text;
    return out.write(s.data(), static_cast<std::streamsize>(s.size()));
  }
};

}  // namespace dimwise::detail
