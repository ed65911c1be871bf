// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/cohere.hpp -- Cohere's Command R, R7B and A: their settings.
//
// Layer: models. Differences from LLaMA: attention and feed-forward in parallel after one norm, and scaled logits.
// Tests: the conformance suite `architectures`, case cohere; tests/models/decoders/further_decoders.test.cpp
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

namespace dimwise::models::architectures {

namespace detail {

// Rotary positions turn neighbouring features; attention and feed-forward in parallel with one norm without bias;
// logits are multiplied by logit_scale.
inline decoder_plan cohere_plan(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.epsilon = "layer_norm_eps",
                                     .default_epsilon = 1e-5,
                                     .norm = {.kind = norm_kind::layer},
                                     .tied = true,
                                     .longest = 8192});
  decoder_config& to = plan.config;
  to.input_bias = to.output_bias = c.flag("attention_bias", false);
  to.parallel = to.single_norm = true;
  to.logit_scale = c.number("logit_scale", 0.0625);
  read_rotary_of_all(c, to);
  to.rotary.front().pairs = rotary_pairs::interleaved;
  return plan;
}

}  // namespace detail

/// CohereForCausalLM: with use_qk_norm each head of queries and keys has a norm of its own.
[[nodiscard]] inline decoder_plan cohere(io::config_check& c) {
  decoder_plan plan = detail::cohere_plan(c);
  if (c.flag("use_qk_norm", false)) { plan.config.head_norm = head_norm_kind::own; }
  return plan;
}

/// Cohere2ForCausalLM: windows in three of four layers; the others see all positions, and have no rotary positions.
[[nodiscard]] inline decoder_plan cohere2(io::config_check& c) {
  decoder_plan plan = detail::cohere_plan(c);
  decoder_config& to = plan.config;
  const std::size_t window = c.is_null("sliding_window") ? 0 : c.count("sliding_window", 4096);
  const std::size_t pattern = c.count("sliding_window_pattern", 4);
  const auto windowed = read_layer_types(c, to.layers.size(), [&](std::size_t i) { return (i + 1) % pattern != 0; });
  for (std::size_t i = 0; i < to.layers.size(); ++i) {
    to.layers[i].window = windowed[i] ? window : 0;
    to.layers[i].rotary = windowed[i] ? 0 : no_rotary;
  }
  if (window == 0) { c.differs("sliding_window is null; layers with windows alone have rotary positions"); }
  return plan;
}

/// The entries of `known_decoders`.
inline decoder_architectures cohere_list() {
  return {
      {"cohere", cohere, "Command R (Cohere)", ""},
      {"cohere2", cohere2, "Command R7B, Command A (Cohere)", "`sliding_window` null"},
  };
}

}  // namespace dimwise::models::architectures
