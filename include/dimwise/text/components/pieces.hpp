// SPDX-License-Identifier: BSL-1.0
// dimwise/text/components/pieces.hpp -- the pieces of a text, and the five ways to split at delimiters.
//
// Layer: text. Pieces are ranges of one text: splitting copies nothing. Steps that change bytes make a new text.
// Tests: tests/text/components.test.cpp
#pragma once

#include <dimwise/text/settings.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace dimwise::text::detail {

// A half-open range of bytes of a text.
struct range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct pieces {
  std::string text{};
  std::vector<range> all{};
  bool begins_text = false;  // begins with the first byte of the user's text; read by Metaspace

  [[nodiscard]] std::string_view of(range r) const { return std::string_view(text).substr(r.begin, r.end - r.begin); }
};

// The treatment of a delimiter: SplitDelimiterBehavior of HuggingFace's library.
enum class delimiter : unsigned char { removed, isolated, merged_with_previous, merged_with_next, contiguous };

inline delimiter delimiter_of(const reader& r, const json& from, const char* key, const char* otherwise) {
  const std::string name = otherwise != nullptr && (!from.contains(key) || from.at(key).is_null())
                               ? otherwise
                               : r.word(from, key, "pre_tokenizer");
  if (name == "Removed") { return delimiter::removed; }
  if (name == "Isolated") { return delimiter::isolated; }
  if (name == "MergedWithPrevious") { return delimiter::merged_with_previous; }
  if (name == "MergedWithNext") { return delimiter::merged_with_next; }
  if (name == "Contiguous") { return delimiter::contiguous; }
  r.refuse("the " + std::string(key) + " " + io::detail::printable(name) +
           " is not supported, Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous was expected");
}

// Splits one piece: the caller adds the delimiters from left to right, then calls `finish` with the end of the piece.
class cutter {
 public:
  cutter(std::vector<range>& to, range piece, delimiter how, bool inverted = false)
      : to_(to), first_(to.size()), at_(piece.begin), end_(piece.end), how_(how), inverted_(inverted) {}
  void found(std::size_t begin, std::size_t end) {
    if (at_ < begin) { add({at_, begin}, inverted_); }
    add({begin, end}, !inverted_);
    at_ = end;
  }
  void finish() {
    if (at_ < end_) { add({at_, end_}, inverted_); }
    // Empty pieces take part in merging and are removed afterwards.
    std::size_t kept = first_;
    for (std::size_t i = first_; i < to_.size(); ++i) {
      if (to_[i].begin < to_[i].end) { to_[kept++] = to_[i]; }
    }
    to_.resize(kept);
  }

 private:
  void add(range one, bool is_delimiter) {
    switch (how_) {
      case delimiter::removed:
        if (!is_delimiter) { to_.push_back(one); }
        break;
      case delimiter::isolated:
        to_.push_back(one);
        break;
      case delimiter::contiguous:
        if (is_delimiter == before_ && to_.size() > first_) {
          to_.back().end = one.end;
        } else {
          to_.push_back(one);
        }
        break;
      case delimiter::merged_with_previous:
        if (is_delimiter && !before_ && to_.size() > first_) {
          to_.back().end = one.end;
        } else {
          to_.push_back(one);
        }
        break;
      case delimiter::merged_with_next:
        // From the right, a delimiter joins the next piece unless that is a delimiter.
        if (before_ && !is_delimiter) {
          to_.back().end = one.end;
        } else {
          to_.push_back(one);
        }
        break;
    }
    before_ = is_delimiter;
  }

  std::vector<range>& to_;
  std::size_t first_;
  std::size_t at_;
  std::size_t end_;
  delimiter how_;
  bool inverted_;
  bool before_ = false;
};

}  // namespace dimwise::text::detail
