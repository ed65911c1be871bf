// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/gpt/gpt_oss.hpp -- gpt-oss (OpenAI 2025): its settings.
//
// Layer: models. Attention has a learned sink for each head. All layers have experts, whose weights are MXFP4 or
// floats.
// Tests: the conformance suite `gpt_oss`, tests/models/decoders/gpt_oss.test.cpp
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

namespace dimwise::models::architectures {

namespace detail {

// Whether the weights of experts are MXFP4; other quantized weights are mismatches.
inline bool reads_mxfp4(io::config_check& c) {
  if (!c.has("quantization_config")) { return false; }
  io::config_check how(c.object("quantization_config"), "quantization_config");
  how.expect_word("quant_method", {"mxfp4"});
  c.differs_in(how);
  return true;
}
// Absent settings of rotary positions are those of YaRN with a factor of 32.
inline rotary_settings read_gpt_oss_rotary(io::config_check& c, std::size_t features) {
  const rotary_keys keys{.base = 150000, .longest = 131072};
  if (c.has("rope_scaling") || c.has("rope_parameters")) { return read_rotary(c, features, keys); }
  io::detail::held_json all(c.all());
  (*all)["rope_scaling"] = {{"rope_type", "yarn"}, {"factor", 32.0},    {"beta_fast", 32.0},
                            {"beta_slow", 1.0},    {"truncate", false}, {"original_max_position_embeddings", 4096}};
  io::config_check with_yarn(std::move(all).take(), c.title());
  rotary_settings to = read_rotary(with_yarn, features, keys);
  for (const std::string& problem : with_yarn.problems()) { c.differs(problem); }
  return to;
}

}  // namespace detail

/// GptOssForCausalLM: a window in every second layer, from the first on; gate and up of an expert are interleaved.
[[nodiscard]] inline decoder_plan gpt_oss(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.kv_heads = 8, .head_dim = 64, .default_epsilon = 1e-5, .longest = 131072});
  decoder_config& to = plan.config;
  c.expect_word("hidden_act", {"silu"}, "silu");
  to.input_bias = to.output_bias = c.flag("attention_bias", true);
  to.sinks = true;
  to.rotary = {detail::read_gpt_oss_rotary(c, to.d_k)};
  const std::size_t window = whole_number(c, "sliding_window", 128, null_setting::is_zero);
  const auto windowed = read_layer_types(c, to.layers.size(), [](std::size_t i) { return i % 2 == 0; });
  for (std::size_t i = 0; i < to.layers.size(); ++i) { to.layers[i].window = windowed[i] ? window : 0; }
  // x · sigmoid(1.702 x) of the gate.
  to.feed = {.activation = activation_kind::quick_gelu,
             .bias = true,
             .limit = c.number("swiglu_limit", 7, io::number_range::above_zero)};
  if (c.number("swiglu_alpha", 1.702) != 1.702) { c.differs("swiglu_alpha is not 1.702, which the formula has"); }
  read_experts(c, to, {.experts = 128, .chosen = c.count("experts_per_token", 4)});
  to.router_bias = true;

  decoder_names& names = plan.names;
  plan.reads_quantised = detail::reads_mxfp4(c);
  names.router = "mlp.router";
  names.expert_gate_up = "gate_up_proj";
  names.expert_interleaved = true;
  names.expert_in_out = !plan.reads_quantised;
  const std::string blocks = plan.reads_quantised ? "_blocks" : "";
  for (const std::string name : {"gate_up_proj", "down_proj"}) {
    names.stacked_experts.push_back({"mlp.experts." + name + blocks, name + ".weight"});
    names.stacked_experts.push_back({"mlp.experts." + name + "_bias", name + ".bias"});
    if (plan.reads_quantised) { names.stacked_experts.push_back({"mlp.experts." + name + "_scales", ""}); }
  }
  return plan;
}

/// The entry of `known_decoders`.
inline decoder_architectures gpt_oss_list() {
  return {{"gpt_oss", gpt_oss, "gpt-oss", "`swiglu_alpha` other than 1.702"}};
}

}  // namespace dimwise::models::architectures
