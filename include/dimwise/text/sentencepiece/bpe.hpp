// SPDX-License-Identifier: BSL-1.0
// dimwise/text/sentencepiece/bpe.hpp -- byte-pair encoding by the scores of a SentencePiece model: two symbols are
// merged if they form a piece, that of the highest score first.
//
// Layer: text. User-defined pieces are never merged.
// Tests: tests/text/sentencepiece.test.cpp
#pragma once

#include <dimwise/text/models/bpe.hpp>
#include <dimwise/text/models/bpe_merges.hpp>
#include <dimwise/text/models/lookup.hpp>
#include <dimwise/text/models/vocabulary.hpp>
#include <dimwise/text/sentencepiece/model_proto.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace dimwise::text::detail {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // the pointer owns nothing
class sentencepiece_bpe {
 public:
  // The pieces are in the vocabulary.
  sentencepiece_bpe(const sentencepiece_file& from, const vocabulary& words,
                    std::shared_ptr<const byte_trie> user_defined)
      : words_(&words), user_defined_(std::move(user_defined)) {
    std::vector<std::uint32_t> order;
    for (std::size_t i = 0; i < from.pieces.size(); ++i) {
      if (from.pieces[i].kind == piece_kind::unknown) { unknown_ = static_cast<std::uint32_t>(i); }
      if (from.pieces[i].kind == piece_kind::normal) { order.push_back(static_cast<std::uint32_t>(i)); }
    }
    if (from.byte_fallback) { bytes_ = byte_tokens(words); }
    const auto score = [&](std::uint32_t id) { return from.pieces[id].score; };
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return score(a) != score(b) ? score(a) > score(b) : a < b; });
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      // Of pieces with the same score the leftmost is made first.
      if (i > 0 && score(order[i]) < score(order[i - 1])) { ++rank; }
      add_merges(from.pieces[order[i]].text, order[i], rank);
    }
  }

  void operator()(std::string_view word, ids& to) const {
    std::size_t begin = to.size();
    for (std::size_t i = 0; i < word.size();) {
      if (const auto piece = user_defined_->longest_at(word, i)) {
        merge(to, begin);
        to.push_back(piece->second);
        begin = to.size();
        i = piece->first;
      } else {
        const std::size_t bytes = decode_at(word, i).bytes;
        to.push_back(*symbol_of(word.substr(i, bytes)));
        i += bytes;
      }
    }
    merge(to, begin);
  }

 private:
  static constexpr std::uint32_t no_piece = 1U << 31;  // marks the code point of a character without a piece

  // The piece with this text, or its only character; `nullopt` for longer texts without a piece.
  [[nodiscard]] std::optional<std::uint32_t> symbol_of(std::string_view text) const {
    if (const auto id = words_->find(text)) { return id; }
    const auto [c, bytes, valid] = decode_at(text, 0);
    return bytes == text.size() ? std::optional(no_piece | static_cast<std::uint32_t>(c)) : std::nullopt;
  }
  // The pairs of symbols that form a piece.
  void add_merges(std::string_view piece, std::uint32_t id, std::uint32_t rank) {
    for (std::size_t i = decode_at(piece, 0).bytes; i < piece.size(); i += decode_at(piece, i).bytes) {
      const auto left = symbol_of(piece.substr(0, i));
      const auto right = left ? symbol_of(piece.substr(i)) : std::nullopt;
      if (right) { merges_.add(*left, *right, id, rank); }
    }
  }
  // Merges the symbols from `begin`. Characters without a piece become their bytes, or one unknown piece for each run.
  void merge(ids& to, std::size_t begin) const {
    merges_.merge(to, begin);
    const auto first = to.begin() + static_cast<std::ptrdiff_t>(begin);
    if (std::none_of(first, to.end(), [](std::uint32_t s) { return s >= no_piece; })) { return; }
    const ids symbols(first, to.end());
    to.resize(begin);
    bool after_unknown = false;
    for (const std::uint32_t s : symbols) {
      const bool unknown = s >= no_piece;
      if (!unknown) {
        to.push_back(s);
      } else if (const code_point c = s - no_piece; bytes_ && bytes_->append_to(to, encoded({&c, 1}))) {
      } else if (!after_unknown) {
        to.push_back(unknown_);
      }
      after_unknown = unknown;
    }
  }

  const vocabulary* words_;
  std::shared_ptr<const byte_trie> user_defined_;
  pair_merges merges_{};
  std::optional<byte_tokens> bytes_{};
  std::uint32_t unknown_ = 0;
};
#pragma GCC diagnostic pop

}  // namespace dimwise::text::detail
