// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/cohere.hpp -- Cohere's Command R: its settings.
//
// Layer: models. Differences from LLaMA: attention and feed-forward in parallel after one norm, and scaled logits.
// Tests: the conformance suite `architectures`, case cohere
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

namespace dimwise::models::architectures {

/// CohereForCausalLM: rotary positions turn neighbouring features; attention and feed-forward in parallel with one norm
/// without bias; logits are multiplied by logit_scale.
[[nodiscard]] inline decoder_plan cohere(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.epsilon = "layer_norm_eps",
                                     .default_epsilon = 1e-5,
                                     .norm = {.kind = norm_kind::layer},
                                     .tied = true,
                                     .longest = 8192});
  decoder_config& to = plan.config;
  to.input_bias = to.output_bias = c.flag("attention_bias", false);
  to.parallel = to.single_norm = true;
  if (c.flag("use_qk_norm", false)) { to.head_norm = head_norm_kind::own; }
  to.logit_scale = c.number("logit_scale", 0.0625);
  read_rotary_of_all(c, to);
  to.rotary.front().pairs = rotary_pairs::interleaved;
  return plan;
}

/// The entry of `known_decoders`.
inline decoder_architectures cohere_list() { return {{"cohere", cohere, "Command R (Cohere)", ""}}; }

}  // namespace dimwise::models::architectures
