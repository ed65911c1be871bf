// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/colours.hpp -- a colour for each dimension name, in pictures and on terminals.
//
// Layer: viz. A name has the same of eight colours in every text and picture, unless two names in one picture collide:
// then the later one takes the next free colour. Composite dimensions have no colour; their factors do.
// Tests: tests/viz/print.test.cpp
#pragma once

#include <dimwise/support/library.hpp>

#include <cstddef>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace dimwise::detail {

inline constexpr std::size_t colour_count = 8;

// The class of the k-th series of a picture.
inline std::string colour_of(std::size_t k) { return "k" + std::to_string(k % colour_count); }

// The colours of the dimensions in a text or picture.
class dimension_colours {
 public:
  // Registers a dimension: "seq", "prime<seq>", "merged<heads, d_k>".
  void add(const std::string& dimension);
  // The colour of a dimension; for a composite that of its first factor.
  [[nodiscard]] std::size_t of(const std::string& dimension) const;
  // The text with the names of these dimensions coloured for a terminal.
  [[nodiscard]] std::string painted(const std::string& text) const;

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  [[nodiscard]] std::size_t find(const std::string& word) const;
  [[nodiscard]] bool taken(std::size_t colour) const;
  std::vector<std::pair<std::string, std::size_t>> known_{};
};

// Follows https://no-color.org.
DIMWISE_DETAIL_LIBRARY bool colour_wanted(bool terminal, const char* no_color, const char* term);
// Whether a stream is the program's standard output on a terminal.
DIMWISE_DETAIL_LIBRARY bool shows_colour(const std::streambuf* out);

// Text with dimension names, which a stream prints in colour on a terminal.
struct coloured_text {
  std::string text;
  dimension_colours colours;

  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const coloured_text& t) {
    const std::string s = shows_colour(out.rdbuf()) ? t.colours.painted(t.text) : t.text;
    return out.write(s.data(), static_cast<std::ptrdiff_t>(s.size()));
  }
};

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/viz/colours_definitions.hpp>
#endif
