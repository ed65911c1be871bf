// SPDX-License-Identifier: BSL-1.0
// dimwise/text/models/vocabulary.hpp -- the tokens of a tokenizer and their ids.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/models/lookup.hpp>
#include <dimwise/text/settings.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace dimwise::text::detail {

class vocabulary {
 public:
  vocabulary() = default;
  vocabulary(const vocabulary&) = delete;  // the tables refer to the tokens
  vocabulary& operator=(const vocabulary&) = delete;
  ~vocabulary() = default;

  /// Adds the tokens of an object of tokens and ids.
  void read(const reader& r, const json& from) {
    if (!from.is_object()) { r.refuse("the vocabulary is not an object"); }
    words_.reserve(from.size());
    for (auto token = from.begin(); token != from.end(); ++token) { add(token.key(), r.id(*token, token.key())); }
    if (words_.size() < from.size()) { r.refuse("two tokens of the vocabulary have the same id"); }
  }
  /// Adds a token of the model. Of equal tokens the later one counts.
  void add(const std::string& token, std::uint32_t id) { ids_.set(placed(token, id), id); }
  /// Adds an added token: it is matched in texts, never as a piece of a word.
  void add_token(const std::string& token, std::uint32_t id) { added_.set(placed(token, id), id); }
  /// The id of a token of the model.
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view word) const { return ids_.find(word); }
  /// The id of a token of the model or of an added token.
  [[nodiscard]] std::optional<std::uint32_t> find_token(std::string_view token) const {
    const auto added = added_.find(token);
    return added ? added : find(token);
  }
  [[nodiscard]] const std::string* word(std::uint32_t id) const {
    const auto found = words_.find(id);
    return found == words_.end() ? nullptr : &found->second;
  }
  /// The largest id plus one.
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  // The text of an id; the vocabulary owns it.
  std::string_view placed(const std::string& token, std::uint32_t id) {
    size_ = std::max<std::size_t>(size_, id + std::size_t{1});
    return words_.try_emplace(id, token).first->second;
  }

  std::unordered_map<std::uint32_t, std::string> words_{};
  text_table ids_{};
  text_table added_{};
  std::size_t size_ = 0;
};

}  // namespace dimwise::text::detail
