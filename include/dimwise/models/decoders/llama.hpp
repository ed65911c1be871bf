// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/llama.hpp -- LLaMA, and SmolLM3, some of whose layers lack rotary positions.
//
// Layer: models.
// Tests: the conformance suites `lm` and `architectures`
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

namespace dimwise::models::architectures {

/// LlamaForCausalLM.
[[nodiscard]] inline decoder_plan llama(io::config_check& c) {
  decoder_plan plan = read_usual(c);
  read_biases(c, plan.config);
  read_rotary_of_all(c, plan.config);
  return plan;
}

/// SmolLM3ForCausalLM. An entry 1 of no_rope_layers means that the layer has rotary positions.
[[nodiscard]] inline decoder_plan smollm3(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.kv_heads = 4, .tied = true, .longest = 32768});
  decoder_config& to = plan.config;
  read_biases(c, to);
  read_rotary_of_all(c, to, {.base = 2000000});
  const std::size_t layers = to.layers.size();
  const std::vector<double> listed = c.numbers("no_rope_layers");
  if (!listed.empty() && listed.size() != layers) {
    c.differs("no_rope_layers has " + std::to_string(listed.size()) + " entries, " + std::to_string(layers) +
              " were expected: one for each layer");
  }
  const std::size_t interval = c.count("no_rope_layer_interval", 4);
  std::vector<bool> turned(layers);
  for (std::size_t i = 0; i < layers; ++i) {
    turned[i] = listed.size() == layers ? listed[i] != 0 : (i + 1) % interval != 0;
    if (!turned[i]) { to.layers[i].rotary = no_rotary; }
  }
  const std::size_t window =
      c.flag("use_sliding_window", false) ? whole_number(c, "sliding_window", 0, null_setting::is_zero) : 0;
  const auto windowed = read_layer_types(c, layers, [&](std::size_t i) { return !turned[i]; });
  for (std::size_t i = 0; i < layers; ++i) { to.layers[i].window = windowed[i] ? window : 0; }
  return plan;
}

/// The entries of `known_decoders`.
inline decoder_architectures llama_list() {
  return {
      {"llama", llama, "LLaMA", ""},
      {"smollm3", smollm3, "SmolLM 3", ""},
  };
}

}  // namespace dimwise::models::architectures
