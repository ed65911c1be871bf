// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/mistral.hpp -- Mistral, and Mixtral, its mixture of experts.
//
// Layer: models.
// Tests: the conformance suite `architectures`
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

namespace dimwise::models::architectures {

/// MistralForCausalLM: a window in all layers unless sliding_window is null.
[[nodiscard]] inline decoder_plan mistral(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.kv_heads = 8, .longest = 131072});
  read_rotary_of_all(c, plan.config);
  read_window_of_all(c, plan.config, 4096);
  return plan;
}

/// MixtralForCausalLM: w1 is the gate, w3 is up, w2 is down; the weights of the chosen experts sum to 1.
[[nodiscard]] inline decoder_plan mixtral(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.kv_heads = 8, .default_epsilon = 1e-5, .longest = 131072});
  decoder_config& to = plan.config;
  read_rotary_of_all(c, to, {.base = 1000000});
  read_window_of_all(c, to);
  read_experts(c, to);
  plan.names.router = "block_sparse_moe.gate";
  plan.names.experts = "block_sparse_moe.experts.";
  plan.names.expert_gate = "w1";
  plan.names.expert_up = "w3";
  plan.names.expert_down = "w2";
  return plan;
}

/// The entries of `known_decoders`.
inline decoder_architectures mistral_list() {
  return {
      {"mistral", mistral, "Mistral", ""},
      {"mixtral", mixtral, "Mixtral", ""},
  };
}

}  // namespace dimwise::models::architectures
