// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/phi.hpp -- Phi 1 to 2, Phi 3 and 4, and Phi 3.5-MoE.
//
// Layer: models.
// Tests: the conformance suite `architectures`; tests/models/decoders/mixtures.test.cpp
#pragma once

#include <dimwise/models/decoders/mistral.hpp>

namespace dimwise::models::architectures {

/// PhiForCausalLM: attention and feed-forward in parallel with one norm, and biases everywhere, also of the output.
[[nodiscard]] inline decoder_plan phi(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.default_activation = "gelu_new",
                                     .epsilon = "layer_norm_eps",
                                     .default_epsilon = 1e-5,
                                     .norm = {.kind = norm_kind::layer, .bias = true}});
  decoder_config& to = plan.config;
  to.parallel = to.single_norm = true;
  to.input_bias = to.output_bias = to.feed.bias = to.vocab_bias = true;
  to.feed.gated = false;
  if (c.flag("qk_layernorm", false)) { to.head_norm = head_norm_kind::shared; }
  read_rotary_of_all(c, to, {.partial = 0.5});
  plan.names.query_norm = "self_attn.q_layernorm";
  plan.names.key_norm = "self_attn.k_layernorm";
  plan.names.attention = "self_attn.dense";
  plan.names.up = "mlp.fc1";
  plan.names.down = "mlp.fc2";
  plan.names.norm = "final_layernorm";
  return plan;
}

/// Phi3ForCausalLM: one array for queries, keys and values, one for gate and up. Old configurations name LongRoPE
/// "su" or "yarn".
[[nodiscard]] inline decoder_plan phi3(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.default_epsilon = 1e-5, .longest = 4096});
  decoder_config& to = plan.config;
  c.expect_flag("attention_bias", false, false);
  read_rotary_of_all(c, to, {.trained = 4096});
  read_window_of_all(c, to);
  plan.names.order = qkv_order::stacked;
  plan.names.qkv = "self_attn.qkv_proj";
  plan.names.gate_up = "mlp.gate_up_proj";
  return plan;
}

/// PhimoeForCausalLM: Mixtral's experts with SparseMixer's weights, and norms with biases. Cosines and sines under
/// LongRoPE have factors for short and for long texts.
[[nodiscard]] inline decoder_plan phimoe(io::config_check& c) {
  using enum io::number_range;
  decoder_plan plan = mixtral(c);
  decoder_config& to = plan.config;
  to.norm.kind = norm_kind::layer;
  to.norm.bias = true;
  to.input_bias = to.output_bias = c.flag("attention_bias", false);
  to.vocab_bias = c.flag("lm_head_bias", false);
  to.experts = c.count("num_local_experts", 16);
  if (to.chosen_experts != 2) { c.differs("num_experts_per_tok is not 2, which SparseMixer has"); }
  to.near_experts = 2 * c.number("router_jitter_noise", 0.01, above_zero);
  io::config_check scaling = models::detail::rotary_object(c, "");
  io::config_check unread = scaling;
  if (!models::detail::is_longrope(models::detail::rotary_kind(unread), scaling)) {
    // PhimoeForCausalLM applies them to other types.
    for (const char* key : {"short_mscale", "long_mscale"}) {
      if (scaling.has(key)) { c.differs(scaling.title() + ": " + key + " is read with the type longrope alone"); }
    }
  } else if (rotary_settings& r = to.rotary.front(); r.depends_on_length()) {
    r.scale = scaling.number("short_mscale", {}, above_zero);
    r.long_scale = scaling.number("long_mscale", {}, above_zero);
    c.differs_in(scaling);
  }
  return plan;
}

/// The entries of `known_decoders`.
inline decoder_architectures phi_list() {
  return {
      {"phi", phi, "Phi 1 to 2", ""},
      {"phi3", phi3, "Phi 3 and 4", "`attention_bias`"},
      {"phimoe", phimoe, "Phi 3.5-MoE", "`num_experts_per_tok` other than 2"},
  };
}

}  // namespace dimwise::models::architectures
