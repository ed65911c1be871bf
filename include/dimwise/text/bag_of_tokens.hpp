// SPDX-License-Identifier: BSL-1.0
// dimwise/text/bag_of_tokens.hpp -- the tokens of a text for a static embedding, which averages their vectors.
//
// Layer: text. Special tokens do not belong to a text. Model2Vec leaves out unknown tokens and reads the beginning of
// long texts; the StaticEmbedding of sentence-transformers does neither.
// Tests: tests/text/bag_of_tokens.test.cpp
//
//   const text::bag_of_tokens words(tokenizer, model.is_model2vec);
//   const auto found = words("a happy dog");                            // found.ids
#pragma once

#include <dimwise/text/growth.hpp>
#include <dimwise/text/tokenizer.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace dimwise::text {

/// Selects the tokens of texts for a static embedding.
template <dimension_type Vocab>
class bag_of_tokens {
 public:
  /// The tokens of a text, in order.
  struct result {
    std::vector<id<Vocab>> ids;
    bool truncated;  ///< the text is longer than Model2Vec reads
  };

  /// With `as_model2vec`, unknown tokens are left out, and texts have at most `most` tokens.
  bag_of_tokens(tokenizer<Vocab> words, bool as_model2vec, std::size_t most = 512)
      : words_(std::move(words)), as_model2vec_(as_model2vec), most_(most) {
    if (as_model2vec_) { characters_ = most_ * median_length(words_); }
  }

  /// The maximum number of tokens; without a maximum that of its type.
  [[nodiscard]] std::size_t most() const { return as_model2vec_ ? most_ : std::numeric_limits<std::size_t>::max(); }

  /// The tokens of a text. The truncation of the tokenizer's file applies, as in both libraries.
  [[nodiscard]] result operator()(std::string_view text) const {
    using bare = typename tokenizer<Vocab>::bare;
    if (!as_model2vec_) { return {words_.stored_encoding(text, bare{}).ids, false}; }
    // Model2Vec first keeps as many characters as this number of tokens of the median length has.
    const std::string_view begin = text.substr(0, end_of(text));
    result found{words_.stored_encoding(begin, bare{}).ids, begin.size() < text.size()};
    if (const auto unknown = words_.unknown()) {
      std::erase_if(found.ids, [&](id<Vocab> one) { return one.value == unknown->value; });
    }
    if (found.ids.size() > most_) {
      found.ids.resize(most_, id<Vocab>(0));
      found.truncated = true;
    }
    return found;
  }

 private:
  static std::size_t median_length(const tokenizer<Vocab>& words) {
    std::vector<std::size_t> lengths;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const id<Vocab> one(i);
      if (words.has(one)) { lengths.push_back(detail::characters_in(words.token(one))); }
    }
    if (lengths.empty()) { return 0; }
    std::sort(lengths.begin(), lengths.end());
    const std::size_t middle = lengths.size() / 2;
    return lengths.size() % 2 == 1 ? lengths[middle] : (lengths[middle - 1] + lengths[middle]) / 2;
  }
  // The bytes of the first `characters_` characters.
  [[nodiscard]] std::size_t end_of(std::string_view text) const {
    std::size_t left = characters_;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U;
      if (begins && left-- == 0) { return i; }
    }
    return text.size();
  }

  tokenizer<Vocab> words_;
  bool as_model2vec_;
  std::size_t most_;
  std::size_t characters_ = 0;
};

}  // namespace dimwise::text
