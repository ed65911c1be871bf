// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/gemma.hpp -- Gemma, Gemma 2, and the text models of Gemma 3.
//
// Layer: models. Scales of norms are stored minus one, and embeddings are multiplied by √hidden_size.
// Tests: the conformance suite `architectures`; tests/models/decoders/bidirectional_decoders.test.cpp
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

#include <cmath>

namespace dimwise::models::architectures {

namespace detail {

inline decoder_plan gemma_plan(io::config_check& c, std::size_t kv_heads, const std::string& activation,
                               std::size_t longest = 8192) {
  decoder_plan plan = read_usual(c, {.kv_heads = kv_heads,
                                     .head_dim = 256,
                                     .activation = activation,
                                     .default_activation = "gelu_pytorch_tanh",
                                     .tied = true,
                                     .longest = longest});
  plan.config.embedding_scale = std::sqrt(static_cast<double>(plan.config.d_model));
  plan.config.input_bias = plan.config.output_bias = c.flag("attention_bias", false);
  plan.names.less_one = true;
  return plan;
}
// Norms on both sides, a scale of the scores that is not that of the heads, and a soft cap of the logits.
inline void read_gemma2_settings(io::config_check& c, decoder_plan& plan, double logit_cap) {
  plan.config.place = norm_place::both;
  plan.config.score_scale = 1 / std::sqrt(c.number("query_pre_attn_scalar", 256, io::number_range::above_zero));
  plan.config.logit_cap = number_or_none(c, "final_logit_softcapping", logit_cap);
  plan.names.output_norm1 = "post_attention_layernorm";
  plan.names.norm2 = "pre_feedforward_layernorm";
  plan.names.output_norm2 = "post_feedforward_layernorm";
}

}  // namespace detail

/// GemmaForCausalLM. Old configurations name "gelu" for what was trained with its tanh form.
[[nodiscard]] inline decoder_plan gemma(io::config_check& c) {
  const bool old = !c.has("hidden_activation") && c.word("hidden_act", "gelu") == "gelu";
  decoder_plan plan = detail::gemma_plan(c, 16, c.has("hidden_activation") || old ? "hidden_activation" : "hidden_act");
  read_rotary_of_all(c, plan.config);
  return plan;
}

/// Gemma2ForCausalLM: a window in every second layer, from the first on.
[[nodiscard]] inline decoder_plan gemma2(io::config_check& c) {
  decoder_plan plan = detail::gemma_plan(c, 4, "hidden_activation");
  decoder_config& to = plan.config;
  detail::read_gemma2_settings(c, plan, 30);
  to.score_cap = number_or_none(c, "attn_logit_softcapping", 50);
  read_rotary_of_all(c, to);
  const std::size_t window = whole_number(c, "sliding_window", 4096, null_setting::is_zero);
  const auto windowed = read_layer_types(c, to.layers.size(), [](std::size_t i) { return i % 2 == 0; });
  for (std::size_t i = 0; i < to.layers.size(); ++i) { to.layers[i].window = windowed[i] ? window : 0; }
  return plan;
}

/// Gemma3ForCausalLM: norms of heads, and rotary positions of their own for the layers with windows. EmbeddingGemma is
/// its bidirectional model, whose windows have half their positions on each side.
[[nodiscard]] inline decoder_plan gemma3_text(io::config_check& c) {
  decoder_plan plan = detail::gemma_plan(c, 4, "hidden_activation", 131072);
  decoder_config& to = plan.config;
  detail::read_gemma2_settings(c, plan, 0);
  to.head_norm = head_norm_kind::shared;
  const rotary_settings full =
      read_rotary(c, to.d_k, {.base = 1000000, .layers = "full_attention", .longest = to.longest});
  const rotary_settings local = read_rotary(c, to.d_k,
                                            {.base = 10000,
                                             .base_key = "rope_local_base_freq",
                                             .layers = "sliding_attention",
                                             .scaled = false,
                                             .longest = to.longest});
  to.rotary = {full, local};
  to.bidirectional = c.flag("use_bidirectional_attention", false);
  std::size_t window = whole_number(c, "sliding_window", 4096, null_setting::is_zero);
  if (to.bidirectional && window > 0) { window = window / 2 + 1; }
  const std::size_t pattern =
      c.count(c.has("sliding_window_pattern") ? "sliding_window_pattern" : "_sliding_window_pattern", 6);
  const auto windowed = read_layer_types(c, to.layers.size(), [&](std::size_t i) { return (i + 1) % pattern != 0; });
  for (std::size_t i = 0; i < to.layers.size(); ++i) {
    to.layers[i].rotary = windowed[i] ? 1 : 0;
    to.layers[i].window = windowed[i] ? window : 0;
  }
  return plan;
}

/// The entries of `known_decoders`.
inline decoder_architectures gemma_list() {
  return {
      {"gemma", gemma, "Gemma", ""},
      {"gemma2", gemma2, "Gemma 2", ""},
      {"gemma3_text", gemma3_text, "Gemma 3, text models; EmbeddingGemma", ""},
  };
}

}  // namespace dimwise::models::architectures
