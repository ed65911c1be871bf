// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/granite.hpp -- Granite (IBM 2024): its settings in config.json.
//
// Layer: models. Differences from LLaMA: config.json has factors of the embedding, the scores, the branches and the
// logits.
// Tests: the conformance suite `architectures`, case granite
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

namespace dimwise::models::architectures {

/// Reads the settings of GraniteForCausalLM: `attention_multiplier` replaces the scale 1/√head_dim of the scores, and
/// the logits are divided by `logits_scaling`.
[[nodiscard]] inline decoder_plan granite(io::config_check& c) {
  using enum io::number_range;
  decoder_plan plan = read_usual(c);
  decoder_config& to = plan.config;
  read_biases(c, to);
  read_rotary_of_all(c, to);
  to.embedding_scale = c.number("embedding_multiplier", 1);
  to.score_scale = c.number("attention_multiplier", 1, above_zero);
  to.residual_scale = c.number("residual_multiplier", 1);
  to.logit_scale = 1 / c.number("logits_scaling", 1, above_zero);
  return plan;
}

}  // namespace dimwise::models::architectures
