// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/olmo2.hpp -- OLMo 2 (OLMo team 2024): its settings.
//
// Layer: models. Differences from LLaMA: norms after attention and feed-forward, and of queries and keys.
// Tests: the conformance suite `architectures`, case olmo2
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

namespace dimwise::models::architectures {

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

}  // namespace dimwise::models::architectures
