// src/programs/generate_llama.hpp -- dimwise-generate: a folder of LLaMA as a text_model.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "generate.hpp"
#include <dimwise/models/llama.hpp>

namespace programs {

template <class Weights>
std::unique_ptr<text_model> read_llama(const dimwise::io::config_check& settings, const dimwise::io::archive& weights) {
  using namespace dimwise;
  auto config = settings;
  const auto as = [&]<class Output>(Output) {
    return as_text_model(models::read_llama_as<models::llama<models::llama_dims, Output, nn::no_bias, nn::no_bias,
                                                             nn::activation::silu, Weights>>(settings, weights));
  };
  return config.flag("tie_word_embeddings", false) ? as(models::tied()) : as(models::own());
}

}  // namespace programs
