// SPDX-License-Identifier: BSL-1.0
// dimwise/text/models/unigram.hpp -- the unigram language model (Kudo 2018), the model Unigram of a tokenizer.json and
// of a SentencePiece model: the segmentation with the highest sum of scores, by the Viterbi algorithm.
//
// Layer: text. Cost: the number of bytes times the length of the longest token.
// Tests: tests/text/components.test.cpp, tests/text/sentencepiece.test.cpp
#pragma once

#include <dimwise/text/models/bpe.hpp>
#include <dimwise/text/models/vocabulary.hpp>
#include <dimwise/text/sentencepiece/model_proto.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace dimwise::text::detail {

// The two libraries add scores in different precisions. A run of unknown characters may be a token of the vocabulary;
// HuggingFace's library looks it up.
struct huggingface_scores {
  using sum = double;
  static constexpr bool looks_up_unknown = true;
};
struct sentencepiece_scores {
  using sum = float;
  static constexpr bool looks_up_unknown = false;
};
// Marian looks up all pieces in vocab.json.
struct marian_scores {
  using sum = float;
  static constexpr bool looks_up_unknown = true;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // the pointer owns nothing
template <class Scores>
class unigram_model {
 public:
  // Adds the tokens to the vocabulary.
  unigram_model(const reader& r, const json& from, vocabulary& words) : words_(&words), title_(r.title()) {
    const json& tokens = r.list(from, "vocab", "model");
    if (tokens.empty()) { r.refuse("the vocabulary of the model Unigram is empty"); }
    if (tokens.size() > (1U << 24)) { r.refuse("the vocabulary has more than 2^24 tokens"); }
    double least = std::numeric_limits<double>::infinity();
    for (const json& one : tokens) {
      if (!one.is_array() || one.size() != 2 || !one[0].is_string() || !one[1].is_number()) {
        r.refuse("a token of the vocabulary is not a pair of a string and a score");
      }
      const double score = one[1].get<double>();
      if (!std::isfinite(score)) { r.refuse("a score of the vocabulary is not finite"); }
      const std::string& token = *one[0].get_ptr<const json::string_t*>();
      const auto id = static_cast<std::uint32_t>(scores_.size());
      scores_.push_back(score);
      least = std::min(least, score);
      words.add(token, id);
      ids_[token] = id;  // of equal tokens the later one counts
    }
    unknown_score_ = static_cast<sum>(least) - unknown_penalty;
    if (from.contains("unk_id") && !from.at("unk_id").is_null()) {
      unknown_ = r.id(from.at("unk_id"), "unk_id");
      if (*unknown_ >= scores_.size()) {
        r.refuse("unk_id is " + std::to_string(*unknown_) + ", the vocabulary has " + std::to_string(scores_.size()) +
                 " tokens");
      }
    }
    written_unknown_ = unknown_;
    if (r.flag(from, "byte_fallback", false)) { bytes_ = byte_tokens(words); }
  }
  // From a model of SentencePiece, whose pieces are in the vocabulary. `unknown` is the id of pieces that are not.
  unigram_model(const reader& r, const sentencepiece_file& from, const vocabulary& words,
                std::optional<std::uint32_t> unknown = {})
      : words_(&words), title_(r.title()) {
    float least = std::numeric_limits<float>::max();
    float most = std::numeric_limits<float>::min();
    for (const sentence_piece& one : from.pieces) {
      if (one.kind != piece_kind::normal) { continue; }
      least = std::min(least, one.score);
      most = std::max(most, one.score);
    }
    for (const sentence_piece& one : from.pieces) {
      const auto id = static_cast<std::uint32_t>(scores_.size());
      scores_.push_back(static_cast<double>(one.score));
      switch (one.kind) {
        case piece_kind::normal:
          ids_[one.text] = id;
          break;
        case piece_kind::user_defined:
          // As in SentencePiece: better than the pieces that it replaces.
          scores_.back() = static_cast<double>(static_cast<float>(one.text.size()) * most) - 0.1;
          ids_[one.text] = id;
          break;
        case piece_kind::unknown:
          unknown_ = id;
          break;
        case piece_kind::control:
        case piece_kind::unused:
        case piece_kind::byte:
          break;
      }
    }
    written_unknown_ = unknown ? unknown : unknown_;
    unknown_score_ = static_cast<sum>(least) - unknown_penalty;
    if (from.byte_fallback) { bytes_ = byte_tokens(words); }
  }

  void operator()(std::string_view word, ids& to) const {
    std::vector<place> best(word.size() + 1);
    const auto offer = [&](std::size_t end, auto score, std::size_t from, bool unknown) {
      if (best[end].from == none || score > best[end].score) { best[end] = {static_cast<sum>(score), from, unknown}; }
    };
    for (std::size_t i = 0; i < word.size();) {
      const sum till_here = best[i].score;
      const std::size_t point = decode_at(word, i).bytes;
      bool single = false;
      ids_.each_at(word, i, [&](std::size_t end, std::uint32_t id) {
        offer(end, scores_[id] + static_cast<double>(till_here), i, unknown_ == id);
        single = single || end - i == point;
      });
      if (!single) {
        const auto score = unknown_score_ + till_here;
        const bool reached = best[i + point].from != none;  // by a longer token, whose score is better
        if (!unknown_ && !(reached && best[i + point].score >= score)) {
          throw io::file_error(title_ + ": the text has a character that is not in the vocabulary");
        }
        offer(i + point, score, i, true);
      }
      i += point;
    }
    write(word, best, to);
  }

 private:
  using sum = typename Scores::sum;
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  static constexpr sum unknown_penalty = 10;  // sentencepiece's
  struct place {
    sum score = 0;
    std::size_t from = none;
    bool unknown = false;
  };

  // The pieces from the left. Adjacent unknown pieces are merged.
  void write(std::string_view word, const std::vector<place>& best, ids& to) const {
    std::vector<std::size_t> ends;
    for (std::size_t end = word.size(); end > 0; end = best[end].from) { ends.push_back(end); }
    std::size_t begin = 0;
    for (std::size_t k = ends.size(); k-- > 0;) {
      const bool unknown = best[ends[k]].unknown;
      if (k > 0 && unknown && best[ends[k - 1]].unknown) { continue; }
      const std::string_view piece = word.substr(begin, ends[k] - begin);
      begin = ends[k];
      const auto id = unknown && !Scores::looks_up_unknown ? std::nullopt : words_->find(piece);
      if (id) {
        to.push_back(*id);
      } else if (!bytes_ || !bytes_->append_to(to, piece)) {
        to.push_back(*written_unknown_);
      }
    }
  }

  const vocabulary* words_;
  std::string title_;
  std::vector<double> scores_{};
  sum unknown_score_ = 0;
  byte_trie ids_{};
  std::optional<std::uint32_t> unknown_{};
  std::optional<std::uint32_t> written_unknown_{};  // in the vocabulary, whose ids may be others
  std::optional<byte_tokens> bytes_{};
};
#pragma GCC diagnostic pop

}  // namespace dimwise::text::detail
