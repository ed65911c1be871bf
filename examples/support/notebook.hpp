// SPDX-License-Identifier: BSL-1.0
// examples/support/notebook.hpp -- the three heads of 00_notebook for any text of its tokens, with the notebook's
// weights.
//
// 27_notebook_page stores runs; the page runs it as WebAssembly (examples/live/notebook.cpp).
#pragma once

#include "support/pack.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/viz.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace notebook {

using namespace dimwise;

struct vocab : choice_dim<6> {};      // the six tokens of the embedding
struct seq : position_dim<> {};       // tokens of the text
struct key : prime<seq> {};           // the same tokens, as keys
struct d_model : feature_dim<16> {};  // features of a token
struct d_k : feature_dim<24> {};      // features of queries and keys
struct d_v : feature_dim<28> {};      // features of values
struct heads : heads_dim<3> {};

constexpr std::size_t most_words = 256;
inline const std::vector<std::string> sentence = {"Life", "is", "short", "eat", "dessert", "first"};

struct weights {
  tensor<float, vocab, d_model> embedding;
  tensor<float, heads, d_k, d_model> query, key;
  tensor<float, heads, d_v, d_model> value;
  std::vector<std::size_t> places;  // rows of the embedding for the tokens of the sentence

  explicit weights(const dimwise_test::pack& data)
      : embedding(data.at("single_head/weight.embedding").as<float>()),
        query(data.at("multi_head_corrected/weight.multihead_W_query").as<float>()),
        key(data.at("multi_head_corrected/weight.multihead_W_key").as<float>()),
        value(data.at("multi_head_corrected/weight.multihead_W_value").as<float>()),
        places(data.at("single_head/input.sentence_int").converted<std::size_t>()) {}
};

// The tokens of a text as indices into the sentence, ignoring case and commas.
inline std::vector<std::size_t> words_of(const std::string& text) {
  const auto small = [](std::string word) {
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    return word;
  };
  std::vector<std::size_t> found;
  for (std::size_t begin = 0; (begin = text.find_first_not_of(" ,.", begin)) != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(" ,.", begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const auto is_it = [&](const std::string& known) { return small(known) == small(word); };
    const auto known = std::find_if(sentence.begin(), sentence.end(), is_it);
    if (known == sentence.end()) {
      throw std::invalid_argument("the embedding knows six words, and \"" + word + "\" is none of them");
    }
    found.push_back(static_cast<std::size_t>(known - sentence.begin()));
    begin = end;
  }
  if (found.empty()) { throw std::invalid_argument("type at least one word"); }
  if (found.size() > most_words) {
    throw std::invalid_argument(std::to_string(most_words) + " words are the most here, these are " +
                                std::to_string(found.size()));
  }
  return found;
}

// A run: the formula with all its steps.
inline attention_report run(const weights& w, const live_settings& of) {
  const std::vector<std::size_t> text = words_of(of.text);
  tensor<id<vocab>, seq> ids(seq{text.size()});
  std::vector<std::string> words;
  for (const std::size_t word : text) {
    ids.set(id<vocab>(w.places[word]), id<seq>(words.size()));
    words.push_back(sentence[word]);
  }
  const tensor<bool, heads> on({of.on(0), of.on(1), of.on(2)});

  const tensor x = gather<vocab>(w.embedding, ids);
  const auto q = contract<d_model>(x, w.query);
  const auto k = rename<seq, key>(contract<d_model>(x, w.key));
  const auto v = rename<seq, key>(contract<d_model>(x, w.value));
  const auto a = softmax<key>(masked(scores<d_k>(q, k), of.visible<seq, key>()));
  attention_report r("", labels<seq>(words), labels<key>(words), labels<heads>({"head 1", "head 2", "head 3"}));
  r.add_formula(where(on, contract<key>(a, v), 0.0F),
                {{4, "queries"}, {8, "keys"}, {9, "scores"}, {12, "attention weights"}, {17, "outputs of the heads"}});
  return r;
}

inline live_model live(const weights& w) {
  return {"words",
          "Life, is, short, eat, dessert, first: 256 at most, in any order; the embedding knows no others",
          {"head 1", "head 2", "head 3"},
          [w](const live_settings& of) { return run(w, of); }};
}

}  // namespace notebook
