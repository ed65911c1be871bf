// SPDX-License-Identifier: BSL-1.0
// dimwise/text/vocabulary.hpp -- the tokens of a tokenizer, and their ids.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/settings.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dimwise::text::detail {

class vocabulary {
 public:
  vocabulary() = default;
  vocabulary(const reader& r, const json& from) {
    if (!from.is_object()) { r.refuse("the vocabulary is no object"); }
    for (const auto& [word, id] : from.items()) { add(word, r.id(id, word)); }
    if (words_.size() < ids_.size()) { r.refuse("two words of the vocabulary have one id"); }
  }
  void add(const std::string& word, std::uint32_t id) {
    ids_.insert_or_assign(word, id);
    words_.insert_or_assign(id, word);
    size_ = std::max<std::size_t>(size_, id + std::size_t{1});
  }
  // A token that is added is found in texts, and never among the pieces of a word.
  void add_token(const std::string& token, std::uint32_t id) {
    added_.insert_or_assign(token, id);
    words_.insert_or_assign(id, token);
    size_ = std::max<std::size_t>(size_, id + std::size_t{1});
  }
  /// The id of a piece of words.
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view word) const { return found_in(ids_, word); }
  /// The id of a piece, or of an added token.
  [[nodiscard]] std::optional<std::uint32_t> find_token(std::string_view token) const {
    const auto added = found_in(added_, token);
    return added ? added : find(token);
  }
  [[nodiscard]] const std::string* word(std::uint32_t id) const {
    const auto found = words_.find(id);
    return found == words_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  using id_map = std::map<std::string, std::uint32_t, std::less<>>;
  static std::optional<std::uint32_t> found_in(const id_map& map, std::string_view word) {
    const auto found = map.find(word);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  }

  id_map ids_{};
  id_map added_{};
  std::map<std::uint32_t, std::string> words_{};
  std::size_t size_ = 0;
};

}  // namespace dimwise::text::detail
