// SPDX-License-Identifier: BSL-1.0
// dimwise/text/models/bpe.hpp -- byte-pair encoding, the model BPE of a tokenizer.json.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/models/bpe_merges.hpp>
#include <dimwise/text/models/vocabulary.hpp>
#include <dimwise/text/unicode.hpp>

#include <array>
#include <optional>
#include <string>

namespace dimwise::text::detail {

// The ids of the tokens <0x00> to <0xFF>; `nullopt` for bytes without a token.
class byte_tokens {
 public:
  byte_tokens() = default;
  explicit byte_tokens(const vocabulary& words) {
    constexpr char digits[] = "0123456789ABCDEF";
    for (unsigned b = 0; b < 256; ++b) {
      ids_[b] = words.find_token(std::string("<0x") + digits[b >> 4] + digits[b & 15] + ">");
    }
  }
  // Appends the tokens of all bytes; appends nothing and returns false if a byte has no token.
  bool append_to(ids& to, std::string_view bytes) const {
    const std::size_t before = to.size();
    for (const char b : bytes) {
      const auto& id = ids_[static_cast<unsigned char>(b)];
      if (!id) {
        to.resize(before);
        return false;
      }
      to.push_back(*id);
    }
    return true;
  }

 private:
  std::array<std::optional<std::uint32_t>, 256> ids_{};
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // the pointer owns nothing
class bpe_model {
 public:
  bpe_model(const reader& r, const json& from, const vocabulary& words) : words_(&words) {
    const auto text = [&](const char* key) {
      return from.contains(key) && !from.at(key).is_null() ? r.word(from, key, "model") : std::string();
    };
    prefix_ = text("continuing_subword_prefix");
    suffix_ = text("end_of_word_suffix");
    if (prefix_.size() > most_in_affix || suffix_.size() > most_in_affix) {
      r.refuse("the model's continuing_subword_prefix or end_of_word_suffix has more than " +
               std::to_string(most_in_affix) + " bytes");
    }
    if (from.contains("dropout") && !from.at("dropout").is_null() && from.at("dropout") != 0.0) {
      r.refuse("the model's dropout is not supported");
    }
    if (r.flag(from, "byte_fallback", false)) { bytes_ = byte_tokens(words); }
    fuse_ = r.flag(from, "fuse_unk", false);
    whole_words_ = r.flag(from, "ignore_merges", false);
    if (from.contains("unk_token") && !from.at("unk_token").is_null()) {
      const std::string unknown = text("unk_token");
      unknown_ = words.find(unknown);
      if (!unknown_) {
        missing_unknown_ =
            r.title() + ": the model's unk_token " + io::detail::printable(unknown) + " is not in the vocabulary";
      }
    }
    const json& merges = r.list(from, "merges", "model");
    merges_.reserve(merges.size());
    for (const json& one : merges) { add_merge(r, one); }
    if (prefix_.empty() && suffix_.empty()) {
      for (code_point c = 0; c < short_ids_.size(); ++c) { short_ids_[c] = words.find(encoded({&c, 1})); }
    }
  }

  void operator()(std::string_view word, ids& to) const {
    if (whole_words_) {
      if (const auto id = words_->find(word)) {
        to.push_back(*id);
        return;
      }
    }
    const std::size_t begin = to.size();
    bool unknown = false;  // an unknown token is pending
    for (std::size_t i = 0; i < word.size();) {
      const auto [c, bytes, valid] = decode_at(word, i);
      const bool plain = prefix_.empty() && suffix_.empty();
      std::string changed;
      std::string_view symbol = word.substr(i, bytes);
      if (!plain) {
        changed = (i > 0 ? prefix_ : "") + std::string(symbol) + (i + bytes == word.size() ? suffix_ : "");
        symbol = changed;
      }
      i += bytes;
      const auto id = plain && c < short_ids_.size() ? short_ids_[c] : words_->find(symbol);
      if (id) {
        if (std::exchange(unknown, false)) { to.push_back(*unknown_); }
        to.push_back(*id);
        continue;
      }
      // As in HuggingFace's library: an unknown symbol before bytes is written after them.
      if (bytes_ && bytes_->append_to(to, symbol)) { continue; }
      if (!missing_unknown_.empty()) { throw io::file_error(missing_unknown_); }
      if (!unknown_) { continue; }
      if (unknown && !fuse_) { to.push_back(*unknown_); }
      unknown = true;
    }
    if (unknown) { to.push_back(*unknown_); }
    merges_.merge(to, begin);
  }

 private:
  static constexpr std::size_t most_in_affix = 64;

  void add_merge(const reader& r, const json& one) {
    std::string_view left;
    std::string_view right;
    if (const auto* const text = one.get_ptr<const json::string_t*>()) {
      const std::size_t space = text->find(' ');
      if (space == std::string::npos || text->find(' ', space + 1) != std::string::npos) {
        r.refuse("the merge " + io::detail::printable(*text) + " is not a pair");
      }
      left = std::string_view(*text).substr(0, space);
      right = std::string_view(*text).substr(space + 1);
    } else if (one.is_array() && one.size() == 2 && one[0].is_string() && one[1].is_string()) {
      left = *one[0].get_ptr<const json::string_t*>();
      right = *one[1].get_ptr<const json::string_t*>();
    } else {
      r.refuse("a merge is not a pair of strings");
    }
    const auto a = words_->find(left);
    const auto b = words_->find(right);
    joined_.assign(left);
    joined_ += right.substr(!prefix_.empty() && right.starts_with(prefix_) ? prefix_.size() : 0);
    const auto made = words_->find(joined_);
    if (!a || !b || !made) {
      r.refuse("the merge of " + io::detail::printable(std::string(left)) + " and " +
               io::detail::printable(std::string(right)) + " is not in the vocabulary");
    }
    merges_.add(*a, *b, *made);
  }

  const vocabulary* words_;
  pair_merges merges_{};
  std::optional<byte_tokens> bytes_{};
  std::array<std::optional<std::uint32_t>, 0x800> short_ids_{};  // of code points of one and two bytes
  std::string prefix_{};
  std::string suffix_{};
  std::string joined_{};
  std::optional<std::uint32_t> unknown_{};
  std::string missing_unknown_{};  // the error of a text with an unknown character
  bool fuse_ = false;
  bool whole_words_ = false;
};
#pragma GCC diagnostic pop

}  // namespace dimwise::text::detail
