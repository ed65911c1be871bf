// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/granite.hpp -- Granite (IBM 2024), and its mixture of experts: their settings.
//
// Layer: models. Differences from LLaMA: config.json has factors of the embedding, the scores, the branches and the
// logits.
// Tests: the conformance suite `architectures`, case granite; tests/models/decoders/mixtures.test.cpp
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

/// GraniteMoeForCausalLM: all layers have experts, and an array holds a map of all of them.
[[nodiscard]] inline decoder_plan granitemoe(io::config_check& c) {
  decoder_plan plan = granite(c);
  decoder_config& to = plan.config;
  to.feed.bias = false;
  read_experts(c, to);
  decoder_names& names = plan.names;
  names.router = "block_sparse_moe.router.layer";
  names.experts = "block_sparse_moe.experts.";
  names.expert_gate_up = "input_linear";
  names.expert_down = "output_linear";
  for (const std::string name : {"input_linear", "output_linear"}) {
    names.stacked_experts.push_back({"block_sparse_moe." + name + ".weight", name + ".weight"});
  }
  return plan;
}

/// The entries of `known_decoders`.
inline decoder_architectures granite_list() {
  return {
      {"granite", granite, "Granite", ""},
      {"granitemoe", granitemoe, "Granite, mixture of experts", ""},
  };
}

}  // namespace dimwise::models::architectures
