// src/programs/generate_llama.hpp -- dimwise-generate: LLaMA as a text_model.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "generate.hpp"
#include <dimwise/models/llama.hpp>

namespace programs {

template <class Weights>
std::unique_ptr<text_model> read_llama(const dimwise::io::config_check& settings, const dimwise::io::archive& weights) {
  using namespace dimwise;
  namespace f = nn::activation;
  auto config = settings;
  const auto as = [&]<class Attention, class Feed, class Output, class Activation>(
                      std::type_identity<Attention>, std::type_identity<Feed>, Output, Activation) {
    using model = models::llama<models::llama_dims, Output, Attention, Feed, Activation, Weights>;
    return as_text_model(models::read_llama_as<model>(settings, weights));
  };
  const std::type_identity<nn::no_bias> none;
  const std::type_identity<nn::with_bias> some;
  const auto biased = [&](auto output, auto activation) {
    const bool feed = config.flag("mlp_bias", false);
    if (config.flag("attention_bias", false)) {
      return feed ? as(some, some, output, activation) : as(some, none, output, activation);
    }
    return feed ? as(none, some, output, activation) : as(none, none, output, activation);
  };
  const bool tied = config.flag("tie_word_embeddings", false);
  // Low-precision weights support only the published configuration of LLaMA; mismatches are reported.
  if constexpr (!real_element<Weights>) {
    return tied ? as(none, none, models::tied(), f::silu()) : as(none, none, models::own(), f::silu());
  } else {
    return models::with_activation<f::silu, f::gelu, f::gelu_tanh, f::relu>(
        config.word("hidden_act", "silu"), [&]<class Activation>(Activation activation) {
      // Each combination costs two seconds of compile time: other activations are only supported without biases.
      if constexpr (std::is_same_v<Activation, f::silu>) {
        return tied ? biased(models::tied(), activation) : biased(models::own(), activation);
      } else {
        return tied ? as(none, none, models::tied(), activation) : as(none, none, models::own(), activation);
      }
    });
  }
}

}  // namespace programs
