// src/programs/token_ids.hpp -- the ids of texts as a model takes them: truncated, and within its vocabulary.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "common.hpp"
#include "encoder_text.hpp"
#include <dimwise/text/tokenizer.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace programs {

template <dimwise::dimension_type Vocab>
class token_ids {
 public:
  using token = dimwise::id<Vocab>;
  using words_type = dimwise::text::tokenizer<Vocab>;

  /// For a model of `rows` tokens that takes texts of `longest` tokens.
  token_ids(words_type words, std::size_t rows, std::size_t longest, const text_options& options)
      : words_(std::move(words)), rows_(rows), longest_(longest), options_(options) {}

  [[nodiscard]] const words_type& words() const { return words_; }
  /// The number of ids of a prompt that a pooling leaves out.
  [[nodiscard]] std::size_t prompt_tokens(const std::string& prompt) const {
    return words_.prefix_size() + words_.encode(prompt, typename words_type::bare{}).size();
  }
  [[nodiscard]] std::vector<token> of(const std::string& text, const std::string& name) {
    expect_utf8(text, name);
    auto ids = words_.encode(text);
    expect_known(ids, name);
    if (ids.size() > most()) {
      reject_or_count(name + " has ", ids.size());
      ids = words_.encode(text, typename words_type::at_most{most()});
    }
    return ids;
  }
  /// The ids of a pair, and which text each is from.
  [[nodiscard]] typename words_type::encoding of(const std::string& query, const std::string& text,
                                                 const std::string& name) {
    expect_utf8(text, name);
    using at_most = typename words_type::at_most;
    auto all = words_.encode(query, text, at_most{std::numeric_limits<std::size_t>::max()});
    expect_known(all.ids, name);
    if (all.ids.size() > most()) {
      reject_or_count(name + " and the query have ", all.ids.size());
      all = words_.encode(query, text, at_most{most()});
    }
    return all;
  }
  void tell_truncated(const std::string& what) {
    if (truncated_ > 0 && !options_.quiet) {
      std::fprintf(stderr, "%zu of the %ss were truncated to %zu tokens\n", truncated_, what.c_str(), most());
    }
    truncated_ = 0;
  }

 private:
  [[nodiscard]] std::size_t most() const { return std::min(options_.most_tokens.value_or(longest_), longest_); }
  void reject_or_count(const std::string& what, std::size_t count) {
    if (!options_.most_tokens || !options_.truncates) {
      refuse(what + std::to_string(count) + " tokens, the model takes " + std::to_string(most()));
    }
    ++truncated_;
  }
  void expect_known(const std::vector<token>& ids, const std::string& name) const {
    if (ids.empty()) { refuse(name + " has no tokens"); }
    for (const auto w : ids) {
      if (w.value >= rows_) {
        refuse(name + " has a token of the id " + std::to_string(w.value) + ", the model has " + std::to_string(rows_) +
               " tokens");
      }
    }
  }

  words_type words_;
  std::size_t rows_;
  std::size_t longest_;
  text_options options_;
  std::size_t truncated_ = 0;
};

}  // namespace programs
