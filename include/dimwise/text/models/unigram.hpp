// SPDX-License-Identifier: BSL-1.0
// dimwise/text/models/unigram.hpp -- the unigram language model (Kudo 2018), the model Unigram of a tokenizer.json:
// the segmentation with the highest sum of scores, by the Viterbi algorithm.
//
// Layer: text. Cost: the number of bytes times the length of the longest token.
// Tests: tests/text/components.test.cpp
#pragma once

#include <dimwise/text/models/bpe.hpp>
#include <dimwise/text/models/vocabulary.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace dimwise::text::detail {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // the pointer owns nothing
class unigram_model {
 public:
  // Adds the tokens to the vocabulary.
  unigram_model(const reader& r, const json& from, vocabulary& words) : words_(&words) {
    const json& tokens = r.list(from, "vocab", "model");
    if (tokens.empty()) { r.refuse("the vocabulary of the model Unigram is empty"); }
    if (tokens.size() > (1U << 24)) { r.refuse("the vocabulary has more than 2^24 tokens"); }
    for (const json& one : tokens) {
      if (!one.is_array() || one.size() != 2 || !one[0].is_string() || !one[1].is_number()) {
        r.refuse("a token of the vocabulary is not a pair of a string and a score");
      }
      const double score = one[1].get<double>();
      if (!std::isfinite(score)) { r.refuse("a score of the vocabulary is not finite"); }
      const std::string& token = *one[0].get_ptr<const json::string_t*>();
      const auto id = static_cast<std::uint32_t>(scores_.size());
      scores_.push_back(score);
      least_ = std::min(least_, score);
      words.add(token, id);
      add(token, id);
    }
    if (from.contains("unk_id") && !from.at("unk_id").is_null()) {
      unknown_ = r.id(from.at("unk_id"), "unk_id");
      if (*unknown_ >= scores_.size()) {
        r.refuse("unk_id is " + std::to_string(*unknown_) + ", the vocabulary has " + std::to_string(scores_.size()) +
                 " tokens");
      }
    }
    if (r.flag(from, "byte_fallback", false)) { bytes_ = byte_tokens(words); }
    title_ = r.title();
  }

  void operator()(std::string_view word, ids& to) const {
    struct place {
      double score = 0;
      std::size_t from = none;
      bool unknown = false;
    };
    std::vector<place> best(word.size() + 1);
    const auto offer = [&](std::size_t end, double score, std::size_t from, bool unknown) {
      if (best[end].from == none || score > best[end].score) { best[end] = {score, from, unknown}; }
    };
    for (std::size_t i = 0; i < word.size();) {
      const double till_here = best[i].score;
      const std::size_t point = decode_at(word, i).bytes;
      bool single = false;
      std::uint32_t node = 0;
      for (std::size_t end = i; end < word.size();) {
        const std::uint32_t* const next = nodes_.find(node, static_cast<unsigned char>(word[end]));
        if (next == nullptr) { break; }
        node = *next;
        ++end;
        if (const std::uint32_t id = token_at_[node]; id != no_token) {
          offer(end, scores_[id] + till_here, i, unknown_ == id);
          single = single || end - i == point;
        }
      }
      if (!single) {
        if (!unknown_) { throw io::file_error(title_ + ": the text has a character that is not in the vocabulary"); }
        offer(i + point, least_ - 10.0 + till_here, i, true);  // sentencepiece's penalty
      }
      i += point;
    }
    write(word, best, to);
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  static constexpr std::uint32_t no_token = std::numeric_limits<std::uint32_t>::max();

  // The pieces from the left. Adjacent unknown pieces are merged.
  template <class Places>
  void write(std::string_view word, const Places& best, ids& to) const {
    std::vector<std::size_t> ends;
    for (std::size_t end = word.size(); end > 0; end = best[end].from) { ends.push_back(end); }
    std::size_t begin = 0;
    for (std::size_t k = ends.size(); k-- > 0;) {
      if (k > 0 && best[ends[k]].unknown && best[ends[k - 1]].unknown) { continue; }
      const std::string_view piece = word.substr(begin, ends[k] - begin);
      begin = ends[k];
      if (const auto id = words_->find(piece)) {
        to.push_back(*id);
      } else if (!bytes_ || !bytes_->append_to(to, piece)) {
        to.push_back(*unknown_);
      }
    }
  }
  void add(std::string_view token, std::uint32_t id) {
    std::uint32_t node = 0;
    for (const char c : token) {
      const auto byte = static_cast<unsigned char>(c);
      if (const std::uint32_t* const next = nodes_.find(node, byte)) {
        node = *next;
      } else {
        const auto made = static_cast<std::uint32_t>(token_at_.size());
        nodes_.add(node, byte, made);
        token_at_.push_back(no_token);
        node = made;
      }
    }
    token_at_[node] = id;  // of equal tokens the later one counts
  }

  const vocabulary* words_;
  std::string title_{};
  std::vector<double> scores_{};
  double least_ = std::numeric_limits<double>::infinity();
  pair_table<std::uint32_t> nodes_{};              // a trie of bytes: node and byte to node
  std::vector<std::uint32_t> token_at_{no_token};  // of each node
  std::optional<std::uint32_t> unknown_{};
  std::optional<byte_tokens> bytes_{};
};
#pragma GCC diagnostic pop

}  // namespace dimwise::text::detail
