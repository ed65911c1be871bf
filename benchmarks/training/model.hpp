// SPDX-License-Identifier: BSL-1.0
// benchmarks/training/model.hpp -- a step of training a GPT: forward, backward, AdamW.
#pragma once

#include "gpt.hpp"
#include "step.hpp"
#include <dimwise/grad.hpp>

#include <vector>

namespace bench {

/// Of a model `Gpt` over the vocabulary `Words`.
template <class Words, class Gpt>
class step final : public training_step {
 public:
  step(std::size_t layers, std::size_t many, std::size_t length)
      : model_(drawn(layers, length)), optimiser_(model_, {.rate = 1e-4, .weight_decay = 0.1}) {
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
  static Gpt drawn(std::size_t layers, std::size_t length) {
    Gpt model;
    model.layers = Gpt::stack::of(layers);
    nn::normal how(1, 0.02);
    nn::initialise(model, how, seq{length});
    return model;
  }

  Gpt model_;
  adamw<Gpt> optimiser_;
  tensor<id<Words>, batch, seq> text_;
};

}  // namespace bench
