// src/programs/generate_llama.cpp -- dimwise-generate: folders of LLaMA.
// SPDX-License-Identifier: BSL-1.0
#include "generate.hpp"
#include <dimwise/models/llama.hpp>

namespace programs {

int generate_llama(const generate_options& o, const dimwise::io::config_check& settings) {
  using namespace dimwise::models;
  auto config = settings;
  const auto run = [&]<class Output>(Output) {
    return generate_with(o, "LLaMA", [&settings](const auto& weights) {
      return read_llama_as<llama<llama_dims, Output>>(settings, weights);
    });
  };
  return config.flag("tie_word_embeddings", false) ? run(tied()) : run(own());
}

}  // namespace programs
