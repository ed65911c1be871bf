// SPDX-License-Identifier: BSL-1.0
// dimwise/text/bpe.hpp -- byte-pair encoding, the model BPE of a tokenizer.json.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/bpe_merges.hpp>
#include <dimwise/text/unicode.hpp>
#include <dimwise/text/vocabulary.hpp>

#include <array>
#include <optional>
#include <string>

namespace dimwise::text::detail {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // the pointer owns nothing
class bpe_model {
 public:
  bpe_model() = default;
  bpe_model(const reader& r, const json& from, const vocabulary& words) : words_(&words) {
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
  bpe_merges merges_{};
  std::array<std::uint32_t, 256> bytes_{};
  std::optional<std::uint32_t> unknown_{};
  bool byte_fallback_ = false;
  bool fuse_ = false;
  bool whole_words_ = false;
};
#pragma GCC diagnostic pop

}  // namespace dimwise::text::detail
