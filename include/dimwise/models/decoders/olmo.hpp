// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/olmo.hpp -- OLMo (Groeneveld et al. 2024), OLMo 2 (OLMo team 2024) and OLMoE (Muennighoff et
// al. 2024): their settings.
//
// Layer: models. Differences from LLaMA: OLMo's norms have no parameters; the others have norms of queries and keys,
// OLMo 2 after attention and feed-forward.
// Tests: the conformance suite `architectures`, case olmo2; tests/models/decoders/further_decoders.test.cpp,
// tests/models/decoders/mixtures.test.cpp
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

namespace dimwise::models::architectures {

namespace detail {

// clip_qkv: queries, keys and values are clamped, after their norms.
inline void read_clamp(io::config_check& c, decoder_config& to) {
  if (c.has("clip_qkv")) { to.input_limit = c.number("clip_qkv", {}, io::number_range::above_zero); }
}

}  // namespace detail

/// OlmoForCausalLM: norms of layers without parameters, with the ε 1e-5.
[[nodiscard]] inline decoder_plan olmo(io::config_check& c) {
  decoder_plan plan = read_usual(c);
  decoder_config& to = plan.config;
  to.norm = {.kind = norm_kind::layer, .epsilon = 1e-5, .scale = false};
  to.input_bias = to.output_bias = c.flag("attention_bias", false);
  read_rotary_of_all(c, to);
  detail::read_clamp(c, to);
  return plan;
}

/// Olmo2ForCausalLM: norms of the outputs of attention and feed-forward, and of queries and keys over all heads.
[[nodiscard]] inline decoder_plan olmo2(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.default_epsilon = 1e-5});
  decoder_config& to = plan.config;
  to.input_bias = to.output_bias = c.flag("attention_bias", false);
  to.place = norm_place::after;
  to.head_norm = head_norm_kind::whole;
  read_rotary_of_all(c, to);
  plan.names.output_norm1 = "post_attention_layernorm";
  plan.names.output_norm2 = "post_feedforward_layernorm";
  return plan;
}

/// OlmoeForCausalLM: norms before the branches, experts in all layers, and norms of queries and keys over all heads.
[[nodiscard]] inline decoder_plan olmoe(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.default_epsilon = 1e-5, .longest = 4096});
  decoder_config& to = plan.config;
  to.input_bias = to.output_bias = c.flag("attention_bias", false);
  to.head_norm = head_norm_kind::whole;
  read_rotary_of_all(c, to);
  detail::read_clamp(c, to);
  const std::string key = c.has("num_local_experts") ? "num_local_experts" : "num_experts";
  read_experts(c, to, {.key = key, .experts = 64, .chosen = 8});
  to.renormalised = c.flag("norm_topk_prob", false);
  return plan;
}

/// The entries of `known_decoders`.
inline decoder_architectures olmo_list() {
  return {
      {"olmo", olmo, "OLMo", ""},
      {"olmo2", olmo2, "OLMo 2", ""},
      {"olmoe", olmoe, "OLMoE", ""},
  };
}

}  // namespace dimwise::models::architectures
