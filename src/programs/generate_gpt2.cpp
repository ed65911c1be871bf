// src/programs/generate_gpt2.cpp -- dimwise-generate: folders of GPT-2.
// SPDX-License-Identifier: BSL-1.0
#include "generate.hpp"
#include <dimwise/models/gpt2.hpp>

namespace programs {

int generate_gpt2(const generate_options& o, const dimwise::io::config_check& settings) {
  using namespace dimwise::models;
  auto config = settings;
  namespace activation = dimwise::nn::activation;
  const auto run = [&]<class Output, class Activation>(Output, Activation) {
    return generate_with(o, "GPT-2", [&settings](const auto& weights) {
      return read_gpt2<gpt2_dims, Output, Activation>(settings, weights);
    });
  };
  const bool by_erf = config.word("activation_function", "gelu_new") == "gelu";
  if (!config.flag("tie_word_embeddings", true)) { return run(own(), activation::gelu_tanh()); }
  return by_erf ? run(tied(), activation::gelu()) : run(tied(), activation::gelu_tanh());
}

}  // namespace programs
