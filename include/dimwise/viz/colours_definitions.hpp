// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/colours_definitions.hpp -- the assignment of colours to dimensions.
//
// Layer: viz. Compiled once if a program links the library (support/library.hpp).
// Tests: tests/viz/print.test.cpp
#pragma once

#include <dimwise/viz/colours.hpp>

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <iostream>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace dimwise::detail {

inline bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Calls f(identifier, begin) for each run of letters, digits and underscores.
template <class F>
void each_word(const std::string& s, const F& f) {
  for (std::size_t i = 0; i < s.size();) {
    std::size_t end = i;
    while (end < s.size() && is_letter(s[end])) { ++end; }
    if (end > i) { f(s.substr(i, end - i), i); }
    i = end + (end == i ? 1 : 0);
  }
}

DIMWISE_DETAIL_LIBRARY void dimension_colours::add(const std::string& dimension) {
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

DIMWISE_DETAIL_LIBRARY std::size_t dimension_colours::of(const std::string& dimension) const {
  std::size_t colour = none;
  each_word(dimension, [&](const std::string& word, std::size_t) { colour = colour == none ? find(word) : colour; });
  return colour == none ? 0 : colour;
}

DIMWISE_DETAIL_LIBRARY std::string dimension_colours::painted(const std::string& text) const {
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

DIMWISE_DETAIL_LIBRARY std::size_t dimension_colours::find(const std::string& word) const {
  for (const auto& [name, colour] : known_) {
    if (name == word) { return colour; }
  }
  return none;
}

DIMWISE_DETAIL_LIBRARY bool dimension_colours::taken(std::size_t colour) const {
  if (known_.size() >= colour_count) { return false; }
  for (const auto& [name, other] : known_) {
    if (other == colour) { return true; }
  }
  return false;
}

DIMWISE_DETAIL_LIBRARY bool colour_wanted(bool terminal, const char* no_color, const char* term) {
  return terminal && (no_color == nullptr || *no_color == '\0') && (term == nullptr || std::string(term) != "dumb");
}

DIMWISE_DETAIL_LIBRARY bool shows_colour([[maybe_unused]] const std::streambuf* out) {
  bool terminal = false;
#if __has_include(<unistd.h>)
  terminal = (out == std::cout.rdbuf() && isatty(1) == 1) || (out == std::cerr.rdbuf() && isatty(2) == 1);
#endif
  return colour_wanted(terminal, std::getenv("NO_COLOR"), std::getenv("TERM"));
}

}  // namespace dimwise::detail
