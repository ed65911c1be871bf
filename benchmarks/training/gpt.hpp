// SPDX-License-Identifier: BSL-1.0
// benchmarks/training/gpt.hpp -- the GPT that is measured: the model of examples/23_train_gpt.cpp of any size.
#pragma once

#include <dimwise/dimwise.hpp>
#include <dimwise/nn.hpp>

namespace bench {

using namespace dimwise;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};

/// `Words`, `Model`, `Heads` and `Hidden` are dimensions; their extents are known to the compiler.
template <class Words, class Model, class Heads, class Hidden>
struct sizes {
  struct d_k : divided<Model, Heads> {};
  struct d_v : divided<Model, Heads> {};

  template <class T = float>
  struct gpt {
    using attention = nn::multi_head_attention<Model, Heads, d_k, d_v, nn::elements<T>>;
    using feed_forward = nn::feed_forward<Model, Hidden, nn::activation::gelu_tanh, nn::with_bias, T>;
    using norm = nn::layer_norm<Model, nn::elements<T>>;
    using layer = nn::transformer_block<nn::self_attention<seq, key, attention>, feed_forward, norm, nn::pre_norm>;
    using table = nn::embedding<Words, Model, T>;
    using positions_table = nn::learned_positions<seq, Model, T>;
    using stack = nn::stack<layer, norm>;
    BOOST_HANA_DEFINE_STRUCT(gpt, (table, words), (positions_table, positions), (stack, layers));

    [[nodiscard]] auto operator()(const tensor<id<Words>, batch, seq>& text) const {
      const tensor x = positions(words(text));
      return words.logits(layers(x, causal<seq, key>{}));
    }
  };
};

}  // namespace bench
