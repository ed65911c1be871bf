// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/gpt/gpt_neox.hpp -- GPT-NeoX (Black et al. 2022) and Pythia: settings and array names.
//
// Layer: models. Attention and feed-forward in parallel, each with its own norm; a part of each head is rotated.
// Tests: the conformance suite `architectures`, case gpt_neox
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

namespace dimwise::models::architectures {

/// GPTNeoXForCausalLM: attention and feed-forward in parallel, each with a norm of its own; one array for queries, keys
/// and values, by heads.
[[nodiscard]] inline decoder_plan gpt_neox(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.default_activation = "gelu",
                                     .epsilon = "layer_norm_eps",
                                     .default_epsilon = 1e-5,
                                     .norm = {.kind = norm_kind::layer, .bias = true}});
  decoder_config& to = plan.config;
  to.input_bias = to.output_bias = c.flag("attention_bias", true);
  to.feed.bias = true;
  to.feed.gated = false;
  to.parallel = c.flag("use_parallel_residual", true);
  read_rotary_of_all(c, to,
                     {.partial = 0.25,
                      .base_key = c.has("rotary_emb_base") ? "rotary_emb_base" : "rope_theta",
                      .partial_key = c.has("rotary_pct") ? "rotary_pct" : "partial_rotary_factor"});
  decoder_names& names = plan.names;
  names.prefix = "gpt_neox.";
  names.tokens = "embed_in";
  names.order = qkv_order::by_groups;
  names.qkv = "attention.query_key_value";
  names.attention = "attention.dense";
  names.up = "mlp.dense_h_to_4h";
  names.down = "mlp.dense_4h_to_h";
  names.norm = "final_layer_norm";
  names.output = "embed_out";
  names.ignored = {"attention.bias", "attention.masked_bias", "attention.rotary_emb.inv_freq"};
  return plan;
}

/// The entry of `known_decoders`.
inline decoder_architectures gpt_neox_list() { return {{"gpt_neox", gpt_neox, "GPT-NeoX, Pythia", ""}}; }

}  // namespace dimwise::models::architectures
