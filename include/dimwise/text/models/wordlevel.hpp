// SPDX-License-Identifier: BSL-1.0
// dimwise/text/models/wordlevel.hpp -- the model WordLevel of a tokenizer.json: one id per word.
//
// Layer: text.
// Tests: tests/text/components.test.cpp
#pragma once

#include <dimwise/text/models/vocabulary.hpp>

namespace dimwise::text::detail {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // the pointer owns nothing
class wordlevel_model {
 public:
  wordlevel_model(const reader& r, const json& from, const vocabulary& words) : words_(&words) {
    const auto unknown = words.find(r.word(from, "unk_token", "model"));
    if (!unknown) { r.refuse("the model's unk_token is not in the vocabulary"); }
    unknown_ = *unknown;
  }
  void operator()(std::string_view word, ids& to) const { to.push_back(words_->find(word).value_or(unknown_)); }

 private:
  const vocabulary* words_;
  std::uint32_t unknown_ = 0;
};
#pragma GCC diagnostic pop

}  // namespace dimwise::text::detail
