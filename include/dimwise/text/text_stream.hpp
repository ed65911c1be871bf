// SPDX-License-Identifier: BSL-1.0
// dimwise/text/text_stream.hpp -- the text of ids as they come: whole characters only.
//
// Layer: text. A character may be several ids, and an id may begin one. What is not whole yet is held back.
// Tests: tests/text/text_stream.test.cpp
//
//   text::text_stream stream(words, prompt);
//   std::cout << prompt_text << stream.next(id);
//   std::cout << stream.rest();   // at the end
#pragma once

#include <dimwise/text/tokenizer.hpp>

namespace dimwise::text {

/// Turns ids into text one by one, behind ids whose text has been shown.
template <dimension_type Vocab>
class text_stream {
 public:
  /// Behind the ids that were shown already.
  explicit text_stream(tokenizer<Vocab> words, std::span<const std::type_identity_t<id<Vocab>>> shown = {})
      : words_(std::move(words)),
        ids_(shown.begin(), shown.end()),
        first_(ids_.size() - std::min(ids_.size(), context)),
        shown_(ids_.size()) {}

  /// The text that the next id completes; empty where a character is not whole.
  [[nodiscard]] std::string next(id<Vocab> one) {
    ids_.push_back(one);
    // Not the id alone: how it is written depends on what is before it, and only the last few ids matter.
    const std::span<const id<Vocab>> all(ids_);
    const std::string before = words_.decode(all.subspan(first_, shown_ - first_));
    const std::string now = words_.decode(all.subspan(first_));
    if (now.ends_with("\xEF\xBF\xBD") || now.size() <= before.size()) { return {}; }
    return behind(before, now);
  }
  /// At the end: what was held back, with U+FFFD for a character that never became whole; empty where nothing was.
  [[nodiscard]] std::string rest() {
    if (shown_ == ids_.size()) { return {}; }
    const std::span<const id<Vocab>> all(ids_);
    return behind(words_.decode(all.subspan(first_, shown_ - first_)), words_.decode(all.subspan(first_)));
  }

 private:
  std::string behind(const std::string& before, const std::string& now) {
    // Bytes that are no character change how those before them are read: then the ids by themselves are shown.
    std::string text =
        now.starts_with(before) ? now.substr(before.size()) : words_.decode(std::span(ids_).subspan(shown_));
    first_ = shown_;
    shown_ = ids_.size();
    return text;
  }

  static constexpr std::size_t context = 8;
  tokenizer<Vocab> words_;
  std::vector<id<Vocab>> ids_;
  std::size_t first_;
  std::size_t shown_;
};

}  // namespace dimwise::text
