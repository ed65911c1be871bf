// SPDX-License-Identifier: BSL-1.0
// benchmarks/training_model.hpp -- the GPT that is measured: the model of examples/23_train_gpt.cpp of any size.
#pragma once

#include "training_step.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/nn.hpp>

#include <vector>

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
    using layer = nn::encoder_layer<nn::self_attention<seq, key, attention>, feed_forward, norm, nn::pre_norm>;
    using table = nn::embedding<Words, Model, T>;
    using positions_table = nn::learned_positions<seq, Model, T>;
    using stack = nn::stack<layer, norm>;
    BOOST_HANA_DEFINE_STRUCT(gpt, (table, words), (positions_table, positions), (stack, layers));

    [[nodiscard]] auto operator()(const tensor<id<Words>, batch, seq>& text) const {
      const tensor x = positions(words(text));
      return words.logits(layers(x, causal<seq, key>{}));
    }
  };

  class step final : public training_step {
   public:
    step(std::size_t layers, std::size_t many, std::size_t length)
        : model_(drawn(layers, length)), optimiser_(model_, {.rate = 1e-4, .decay = 0.1}) {
      std::vector<std::size_t> ids;
      nn::random draw(7);
      for (std::size_t i = 0; i < many * length; ++i) {
        ids.push_back(static_cast<std::size_t>(draw.uniform() * static_cast<double>(Words::static_extent)));
      }
      text_ = tensor<id<Words>, batch, seq>(ids, batch{many}, seq{length});
    }
    double run(context& by) override {
      const use_context scope(by);
      const auto loss = [this](const auto& m) { return next_word_loss<seq>(m(text_), text_); };
      const auto [value, gradient] = value_and_gradient(model_, loss);
      optimiser_.step(model_, gradient);
      return static_cast<double>(value);
    }

   private:
    static gpt<> drawn(std::size_t layers, std::size_t length) {
      gpt<> model;
      model.layers = gpt<>::stack::of(layers);
      nn::normal how(1, 0.02);
      nn::initialise(model, how, seq{length});
      return model;
    }

    gpt<> model_;
    adamw<gpt<>> optimiser_;
    tensor<id<Words>, batch, seq> text_;
  };
};

}  // namespace bench
