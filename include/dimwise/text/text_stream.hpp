// SPDX-License-Identifier: BSL-1.0
// dimwise/text/text_stream.hpp -- incremental decoding of ids to whole characters.
//
// Layer: text. A character may span several ids. Incomplete characters are withheld.
// Tests: tests/text/text_stream.test.cpp
//
//   text::text_stream stream(words, prompt);
//   std::cout << prompt_text << stream.next(id);
//   std::cout << stream.rest();   // at the end
#pragma once

#include <dimwise/text/tokenizer.hpp>

namespace dimwise::text {

/// Decodes ids one by one, after ids whose text has been shown.
template <dimension_type Vocab>
class text_stream {
 public:
  /// Begins after the ids that were already shown. Throws `index_error` for ids outside the vocabulary, as `next`.
  explicit text_stream(tokenizer<Vocab> words, std::span<const std::type_identity_t<id<Vocab>>> shown = {})
      : words_(std::move(words)),
        ids_(shown.begin(), shown.end()),
        first_(ids_.size() - std::min(ids_.size(), context)),
        shown_(ids_.size()) {
    (void)words_.decode(ids_);
  }

  /// The text that the next id completes; empty while a character is incomplete.
  [[nodiscard]] std::string next(id<Vocab> one) {
    // The text of an id depends on the few ids before it. An id without a text throws and does not count.
    std::vector<id<Vocab>> all(ids_.begin() + static_cast<std::ptrdiff_t>(first_), ids_.end());
    all.push_back(one);
    const std::string before = words_.decode(std::span(all).first(shown_ - first_));
    const std::string now = words_.decode(all);
    ids_.push_back(one);
    if (now.ends_with("\xEF\xBF\xBD") || now.size() <= before.size()) { return {}; }
    return behind(before, now);
  }
  /// Call it at the end: the withheld text, with U+FFFD for an incomplete character; often empty.
  [[nodiscard]] std::string rest() {
    if (shown_ == ids_.size()) { return {}; }
    const std::span<const id<Vocab>> all(ids_);
    return behind(words_.decode(all.subspan(first_, shown_ - first_)), words_.decode(all.subspan(first_)));
  }

 private:
  std::string behind(const std::string& before, const std::string& now) {
    // Invalid bytes change the decoding of the bytes before them: the ids are decoded on their own then.
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
