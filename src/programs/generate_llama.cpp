// src/programs/generate_llama.cpp -- dimwise-generate: folders of LLaMA.
// SPDX-License-Identifier: BSL-1.0
#include "generate.hpp"
#include <dimwise/models/llama.hpp>

namespace programs {

int generate_llama(const generate_options& o, dimwise::io::config_check config) {
  using namespace dimwise::models;
  const auto run = [&]<class Output>(Output) {
    return generate_with(o, "LLaMA", [](const auto& settings, const auto& weights) {
      return read_llama_as<llama<llama_dims, Output>>(settings, weights);
    });
  };
  return config.flag("tie_word_embeddings", false) ? run(tied()) : run(own());
}

}  // namespace programs
