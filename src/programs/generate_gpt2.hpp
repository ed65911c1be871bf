// src/programs/generate_gpt2.hpp -- dimwise-generate: GPT-2 as a text_model.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "generate.hpp"
#include <dimwise/models/gpt2.hpp>

namespace programs {

template <class Weights>
std::unique_ptr<text_model> read_gpt2(const dimwise::io::config_check& settings, const dimwise::io::archive& weights) {
  using namespace dimwise;
  namespace f = nn::activation;
  auto config = settings;
  const auto as = [&]<class Output, class Activation>(Output, Activation) {
    return as_text_model(models::read_gpt2<models::gpt2_dims, Output, Activation, Weights>(settings, weights));
  };
  // Low-precision weights support only the published configuration of GPT-2; mismatches are reported.
  if constexpr (!real_element<Weights>) {
    return as(models::tied(), f::gelu_tanh());
  } else {
    const bool tied = config.flag("tie_word_embeddings", true);
    return models::with_activation<f::gelu_tanh, f::gelu, f::relu, f::silu>(
        config.word("activation_function", "gelu_new"),
        [&](auto activation) { return tied ? as(models::tied(), activation) : as(models::own(), activation); });
  }
}

}  // namespace programs
