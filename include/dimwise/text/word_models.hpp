// SPDX-License-Identifier: BSL-1.0
// dimwise/text/word_models.hpp -- the vocabulary, and the two models that cut a word into its pieces: byte pairs and
// WordPiece.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/bpe.hpp>
#include <dimwise/text/growth.hpp>
#include <dimwise/text/settings.hpp>
#include <dimwise/text/unicode.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

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

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // the pointer owns nothing
class pair_model {
 public:
  pair_model() = default;
  pair_model(const reader& r, const json& from, const vocabulary& words) : words_(&words) {
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (from.contains(key) && !from.at(key).is_null() && !r.word(from, key, "model").empty()) {
        r.refuse(std::string("the model's ") + key + " is not supported");
      }
    }
    if (from.contains("dropout") && !from.at("dropout").is_null() && from.at("dropout") != 0.0) {
      r.refuse("the model's dropout is not supported");
    }
    byte_fallback_ = r.flag(from, "byte_fallback", false);
    fuse_ = r.flag(from, "fuse_unk", false);
    whole_words_ = r.flag(from, "ignore_merges", false);
    if (from.contains("unk_token") && !from.at("unk_token").is_null()) {
      unknown_ = words.find(r.word(from, "unk_token", "model"));
      if (!unknown_) { r.refuse("the model's unk_token is not in the vocabulary"); }
    }
    if (byte_fallback_) {
      constexpr char digits[] = "0123456789ABCDEF";
      for (unsigned b = 0; b < 256; ++b) {
        const auto id = words.find(std::string("<0x") + digits[b >> 4] + digits[b & 15] + ">");
        if (!id) { r.refuse("the model falls back to bytes, which the vocabulary lacks"); }
        bytes_[b] = *id;
      }
    }
    for (const json& one : r.at(from, "merges", "model")) { add_merge(r, one); }
  }

  [[nodiscard]] ids operator()(const std::u32string& word) const {
    if (whole_words_) {
      if (const auto id = words_->find(encoded(word))) { return {*id}; }
    }
    ids symbols;
    bool unknown = false;
    for (const code_point c : word) {
      std::string one;
      append(one, c);
      if (const auto id = words_->find(one)) {
        symbols.push_back(*id);
        unknown = false;
      } else if (byte_fallback_) {
        for (const char b : one) { symbols.push_back(bytes_[static_cast<unsigned char>(b)]); }
        unknown = false;
      } else if (unknown_) {
        if (!unknown || !fuse_) { symbols.push_back(*unknown_); }
        unknown = true;
      }
    }
    return merges_.merged(std::move(symbols));
  }

 private:
  void add_merge(const reader& r, const json& one) {
    std::string left;
    std::string right;
    if (one.is_string()) {
      const std::string text = one.get<std::string>();
      const std::size_t space = text.find(' ');
      if (space == std::string::npos) { r.refuse("the merge " + io::detail::printable(text) + " is no pair"); }
      left = text.substr(0, space);
      right = text.substr(space + 1);
    } else if (one.is_array() && one.size() == 2 && one[0].is_string() && one[1].is_string()) {
      left = one[0].get<std::string>();
      right = one[1].get<std::string>();
    } else {
      r.refuse("a merge is no pair of texts");
    }
    const auto a = words_->find(left);
    const auto b = words_->find(right);
    const auto made = words_->find(left + right);
    if (!a || !b || !made) {
      r.refuse("the merge of " + io::detail::printable(left) + " and " + io::detail::printable(right) +
               " is not in the vocabulary");
    }
    merges_.add(*a, *b, *made);
  }

  const vocabulary* words_ = nullptr;
  pair_merges merges_{};
  std::array<std::uint32_t, 256> bytes_{};
  std::optional<std::uint32_t> unknown_{};
  bool byte_fallback_ = false;
  bool fuse_ = false;
  bool whole_words_ = false;
};
#pragma GCC diagnostic pop

// The longest pieces from the left (Wu et al. 2016); those behind the first have a prefix.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // the pointer owns nothing
class piece_model {
 public:
  piece_model() = default;
  piece_model(const reader& r, const json& from, const vocabulary& words) : words_(&words) {
    prefix_ = r.word(from, "continuing_subword_prefix", "model");
    const auto unknown = words.find(r.word(from, "unk_token", "model"));
    if (!unknown) { r.refuse("the model's unk_token is not in the vocabulary"); }
    unknown_ = *unknown;
    if (from.contains("max_input_chars_per_word")) {
      longest_ = r.id(from.at("max_input_chars_per_word"), "max_input_chars_per_word");
      if (longest_ > most_in_piece_word) {
        r.refuse("the model's max_input_chars_per_word is " + std::to_string(longest_) + ", more than " +
                 std::to_string(most_in_piece_word) + " is not supported");
      }
    }
  }
  [[nodiscard]] ids operator()(const std::u32string& word) const {
    if (word.size() > longest_) { return {unknown_}; }
    ids all;
    for (std::size_t i = 0; i < word.size();) {
      const std::string rest = (i > 0 ? prefix_ : "") + encoded(std::u32string_view(word).substr(i));
      std::string_view piece = rest;
      std::size_t end = word.size();
      std::optional<std::uint32_t> found;
      while (end > i && !(found = words_->find(piece))) {
        --end;
        std::string last;
        append(last, word[end]);
        piece.remove_suffix(last.size());
      }
      if (!found) { return {unknown_}; }
      all.push_back(*found);
      i = end;
    }
    return all;
  }

 private:
  const vocabulary* words_ = nullptr;
  std::string prefix_{};
  std::uint32_t unknown_ = 0;
  std::size_t longest_ = 100;
};
#pragma GCC diagnostic pop

}  // namespace dimwise::text::detail
