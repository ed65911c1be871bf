// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/stablelm.hpp -- StableLM.
//
// Layer: models.
// Tests: the conformance suite `architectures`
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

namespace dimwise::models::architectures {

/// StableLmForCausalLM: a quarter of the features is rotated; qk_layernorm is a norm without bias for each head, in an
/// array of its own.
[[nodiscard]] inline decoder_plan stablelm(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.kv_heads = 32,
                                     .epsilon = "layer_norm_eps",
                                     .default_epsilon = 1e-5,
                                     .norm = {.kind = norm_kind::layer, .bias = true},
                                     .longest = 4096});
  decoder_config& to = plan.config;
  to.input_bias = c.flag("use_qkv_bias", false);
  to.parallel = to.single_norm = c.flag("use_parallel_residual", false);
  if (c.flag("qk_layernorm", false)) {
    to.head_norm = head_norm_kind::own_arrays;
    to.head_norm_settings.bias = false;
  }
  read_rotary_of_all(c, to, {.partial = 0.25});
  plan.names.query_norm = "self_attn.q_layernorm";
  plan.names.key_norm = "self_attn.k_layernorm";
  return plan;
}

/// The entry of `known_decoders`.
inline decoder_architectures stablelm_list() { return {{"stablelm", stablelm, "StableLM", ""}}; }

}  // namespace dimwise::models::architectures
