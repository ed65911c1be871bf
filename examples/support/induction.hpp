// SPDX-License-Identifier: BSL-1.0
// examples/support/induction.hpp -- the model of 24_induction, and the settings of its page.
//
// 24_induction trains it and stores runs; the page runs it as WebAssembly (examples/live/induction.cpp).
#pragma once

#include <dimwise/dimwise.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/viz.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace induction {

using namespace dimwise;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct symbol : choice_dim<26> {};
struct d_model : feature_dim<64> {};
struct heads : heads_dim<2> {};
struct d_k : divided<d_model, heads> {};
struct d_v : divided<d_model, heads> {};

constexpr std::size_t length = 32;

template <class T = float>
struct layer {
  using attention_type =
      nn::self_attention<seq, key, nn::multi_head_attention<d_model, heads, d_k, d_v, nn::no_bias, nn::elements<T>>>;
  using norm_type = nn::rms_norm<d_model, nn::elements<T>>;
  BOOST_HANA_DEFINE_STRUCT(layer, (norm_type, norm), (attention_type, attention));

  template <class X, class Mask = causal<seq, key>>
  [[nodiscard]] auto operator()(const X& x, const Mask& visible = {}) const {
    return tensor(x + attention(norm(x), visible));
  }
  template <class X, class Mask = causal<seq, key>>
  [[nodiscard]] auto weights(const X& x, const Mask& visible = {}) const {
    return attention.weights(norm(x), visible);
  }
};

template <class T = float>
struct model {
  using table = nn::embedding<symbol, d_model, T>;
  using positions_table = nn::learned_positions<seq, d_model, T>;
  using norm_type = nn::rms_norm<d_model, nn::elements<T>>;
  using output_type = nn::linear<nn::from<d_model>, nn::to<symbol>, nn::no_bias, T>;
  BOOST_HANA_DEFINE_STRUCT(model, (table, symbols), (positions_table, positions), (layer<T>, first), (layer<T>, second),
                           (norm_type, norm), (output_type, output));

  [[nodiscard]] auto start(const tensor<id<symbol>, batch, seq>& s) const { return positions(symbols(s)); }
  [[nodiscard]] auto operator()(const tensor<id<symbol>, batch, seq>& s) const {
    const tensor x = start(s);
    return output(norm(second(first(x))));
  }
};

// The letters of a text as symbols.
inline tensor<id<symbol>, batch, seq> symbols_of(const std::string& text) {
  if (text.empty()) { throw std::invalid_argument("type at least one letter"); }
  if (text.size() > length) {
    throw std::invalid_argument("the model has positions for " + std::to_string(length) + " letters, these are " +
                                std::to_string(text.size()));
  }
  tensor<id<symbol>, batch, seq> s(batch{1}, seq{text.size()});
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] < 'a' || text[i] > 'z') {
      throw std::invalid_argument("the model knows the letters a to z, and letter " + std::to_string(i + 1) +
                                  " is none of them");
    }
    s.set(id<symbol>(static_cast<std::size_t>(text[i] - 'a')), id<batch>(0), id<seq>(i));
  }
  return s;
}

// A disabled head outputs zero: its rows of the output projection are 0.
inline void keep_heads(layer<>& l, bool first, bool second) {
  const tensor<bool, heads> on({first, second});
  l.attention.output.weight = where(on, l.attention.output.weight, 0.0F);
}

// A run: the attention weights of both layers, the mask, and the prediction.
inline attention_report run(model<> m, const live_settings& of) {
  const tensor s = symbols_of(of.text);
  const auto visible = of.visible<seq, key>();
  keep_heads(m.first, of.on(0), of.on(1));
  keep_heads(m.second, of.on(2), of.on(3));
  std::vector<std::string> words;
  for (const char letter : of.text) { words.emplace_back(1, letter); }
  std::vector<std::string> alphabet;
  for (char letter = 'a'; letter <= 'z'; ++letter) { alphabet.emplace_back(1, letter); }

  const tensor x = m.start(s);
  const tensor y = m.first(x, visible);
  attention_report r("", labels<seq>(words), labels<key>(words), labels<heads>({"head 1", "head 2"}),
                     labels<symbol>(alphabet));
  r.add_weights("layer 1", at<batch>(m.first.weights(x, visible), 0));
  r.add_weights("layer 2", at<batch>(m.second.weights(y, visible), 0));
  r.add_mask(of.mask, visible, seq{words.size()}, key{words.size()});
  r.add_prediction("next letter", at<batch>(softmax<symbol>(m.output(m.norm(m.second(y, visible)))), 0));
  return r;
}

inline live_model live(const model<>& m) {
  return {"letters",
          "a to z, 32 at most; try a block that repeats",
          {"layer 1, head 1", "layer 1, head 2", "layer 2, head 1", "layer 2, head 2"},
          [m](const live_settings& of) { return run(m, of); }};
}

}  // namespace induction
