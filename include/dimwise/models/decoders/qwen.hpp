// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/qwen.hpp -- Qwen2 and Qwen2.5, Qwen3, and the mixtures of experts of both.
//
// Layer: models.
// Tests: the conformance suite `architectures`
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

#include <algorithm>

namespace dimwise::models::architectures {

namespace detail {

// A window with use_sliding_window alone, in the layers from max_window_layers on.
inline void read_qwen_windows(io::config_check& c, decoder_config& to) {
  const std::size_t window =
      c.flag("use_sliding_window", false) ? whole_number(c, "sliding_window", 4096, null_setting::is_zero) : 0;
  const std::size_t first = whole_number(c, "max_window_layers", 28, null_setting::is_zero);
  const auto windowed = read_layer_types(c, to.layers.size(), [&](std::size_t i) { return i >= first; });
  for (std::size_t i = 0; i < to.layers.size(); ++i) { to.layers[i].window = windowed[i] ? window : 0; }
}

}  // namespace detail

/// Qwen2ForCausalLM: queries, keys and values have biases, the output of the attention has none.
[[nodiscard]] inline decoder_plan qwen2(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.kv_heads = 32, .longest = 32768});
  plan.config.input_bias = true;
  read_rotary_of_all(c, plan.config);
  detail::read_qwen_windows(c, plan.config);
  return plan;
}

/// Qwen3ForCausalLM: a norm of each head of queries and keys.
[[nodiscard]] inline decoder_plan qwen3(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.kv_heads = 32, .head_dim = 128, .longest = 32768});
  plan.config.head_norm = head_norm_kind::shared;
  plan.config.input_bias = plan.config.output_bias = c.flag("attention_bias", false);
  read_rotary_of_all(c, plan.config);
  detail::read_qwen_windows(c, plan.config);
  return plan;
}

namespace detail {

// Which layers have experts: not those in mlp_only_layers, and those of every decoder_sparse_step alone.
inline void read_qwen_experts(io::config_check& c, decoder_config& to, std::size_t experts, std::size_t chosen,
                              std::size_t hidden) {
  to.experts = c.has("num_local_experts") ? c.count("num_local_experts")
                                          : whole_number(c, "num_experts", experts, null_setting::is_zero);
  to.chosen_experts = c.count("num_experts_per_tok", chosen);
  to.expert_hidden = c.count("moe_intermediate_size", hidden);
  to.renormalised = c.flag("norm_topk_prob", false);
  const std::size_t step = c.count("decoder_sparse_step", 1);
  const std::vector<double> plain = c.numbers("mlp_only_layers");
  for (std::size_t i = 0; i < to.layers.size(); ++i) {
    const bool listed = std::find(plain.begin(), plain.end(), static_cast<double>(i)) != plain.end();
    to.layers[i].sparse = !listed && to.experts > 0 && (i + 1) % step == 0;
  }
}

}  // namespace detail

/// Qwen2MoeForCausalLM: beside the chosen experts, one that all positions share. Its windows are in every second layer.
[[nodiscard]] inline decoder_plan qwen2_moe(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.kv_heads = 16, .longest = 32768});
  decoder_config& to = plan.config;
  to.input_bias = c.flag("qkv_bias", true);
  read_rotary_of_all(c, to);
  detail::read_qwen_experts(c, to, 60, 4, 1408);
  to.shared_hidden = c.count("shared_expert_intermediate_size", 5632);
  const std::size_t window =
      c.flag("use_sliding_window", false) ? whole_number(c, "sliding_window", 4096, null_setting::is_zero) : 0;
  const std::size_t last = whole_number(c, "max_window_layers", 28, null_setting::is_zero);
  const auto windowed = read_layer_types(c, to.layers.size(), [&](std::size_t i) { return i % 2 == 0 && i < last; });
  for (std::size_t i = 0; i < to.layers.size(); ++i) { to.layers[i].window = windowed[i] ? window : 0; }
  return plan;
}

/// Qwen3MoeForCausalLM.
[[nodiscard]] inline decoder_plan qwen3_moe(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.kv_heads = 4, .longest = 32768});
  decoder_config& to = plan.config;
  to.head_norm = head_norm_kind::shared;
  to.input_bias = to.output_bias = c.flag("attention_bias", false);
  read_rotary_of_all(c, to);
  detail::read_qwen_experts(c, to, 128, 8, 768);
  const std::size_t window =
      c.flag("use_sliding_window", false) ? whole_number(c, "sliding_window", 4096, null_setting::is_zero) : 0;
  for (auto& layer : to.layers) { layer.window = window; }
  return plan;
}

/// The entries of `known_decoders`.
inline decoder_architectures qwen_list() {
  return {
      {"qwen2", qwen2, "Qwen 2, Qwen 2.5", ""},
      {"qwen2_moe", qwen2_moe, "Qwen 1.5 and 2, mixture of experts", ""},
      {"qwen3", qwen3, "Qwen 3", ""},
      {"qwen3_moe", qwen3_moe, "Qwen 3, mixture of experts", ""},
  };
}

}  // namespace dimwise::models::architectures
