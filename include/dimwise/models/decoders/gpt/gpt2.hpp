// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/gpt/gpt2.hpp -- GPT-2, and the code models GPTBigCode (StarCoder) and StarCoder 2.
//
// Layer: models.
// Tests: the conformance suites `lm` and `architectures`
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

namespace dimwise::models::architectures {

namespace detail {

// The keys and names of GPT-2, without the order of its matrices.
inline decoder_plan gpt2_plan(io::config_check& c, const std::string& activation) {
  decoder_plan plan;
  decoder_config& to = plan.config;
  to.vocab = c.count("vocab_size");
  to.d_model = c.count("n_embd");
  to.hidden = c.count("n_inner", 4 * to.d_model);
  to.longest = to.position_rows = c.count("n_positions", 1024);
  read_layers(c, to, "n_layer");
  to.norm = {.kind = norm_kind::layer,
             .epsilon = c.number("layer_norm_epsilon", 1e-5, io::number_range::from_zero),
             .bias = true};
  to.input_bias = to.output_bias = true;
  to.feed = {.activation = activation_of(c, "activation_function", activation), .gated = false, .bias = true};
  to.tied = c.flag("tie_word_embeddings", true);
  to.score_scale = c.flag("scale_attn_weights", true) ? 0 : 1;
  c.expect_flag("add_cross_attention", false, false);
  decoder_names& names = plan.names;
  names.prefix = "transformer.";
  names.tokens = "wte";
  names.positions = "wpe";
  names.layer = "h.";
  names.norm1 = "ln_1";
  names.qkv = "attn.c_attn";
  names.attention = "attn.c_proj";
  names.norm2 = "ln_2";
  names.up = "mlp.c_fc";
  names.down = "mlp.c_proj";
  names.norm = "ln_f";
  names.ignored = {"attn.bias", "attn.masked_bias"};  // the causal mask in old files
  return plan;
}

}  // namespace detail

/// GPT2LMHeadModel: matrices are [inputs, outputs]; queries, keys and values in thirds. With
/// scale_attn_by_inverse_layer_idx the scores of layer i, from 0, are divided by i + 1.
[[nodiscard]] inline decoder_plan gpt2(io::config_check& c) {
  decoder_plan plan = detail::gpt2_plan(c, "gelu_new");
  const std::size_t heads = c.count("n_head");
  read_heads(c, plan.config, heads, heads, 0);
  if (c.flag("scale_attn_by_inverse_layer_idx", false)) {
    double number = 1;
    for (auto& layer : plan.config.layers) { layer.score_scale = 1 / number++; }
  }
  plan.names.order = qkv_order::stacked;
  plan.names.in_out = true;
  return plan;
}

/// GPTBigCodeForCausalLM: matrices are [outputs, inputs]; one key head, or with multi_query false queries, keys and
/// values by heads. The class ignores scale_attn_by_inverse_layer_idx.
[[nodiscard]] inline decoder_plan gpt_bigcode(io::config_check& c) {
  decoder_plan plan = detail::gpt2_plan(c, "gelu_pytorch_tanh");
  const std::size_t heads = c.count("n_head");
  read_heads(c, plan.config, heads, c.flag("multi_query", true) ? 1 : heads, 0);
  plan.names.order = qkv_order::by_groups;
  return plan;
}

/// Starcoder2ForCausalLM: LLaMA's attention with the feed-forward layer of GPT-2; use_bias is for all matrices.
[[nodiscard]] inline decoder_plan starcoder2(io::config_check& c) {
  decoder_plan plan = read_usual(c, {.kv_heads = 2,
                                     .default_activation = "gelu_pytorch_tanh",
                                     .epsilon = "norm_epsilon",
                                     .default_epsilon = 1e-5,
                                     .norm = {.kind = norm_kind::layer, .bias = true},
                                     .tied = true,
                                     .longest = 4096});
  decoder_config& to = plan.config;
  to.input_bias = to.output_bias = to.feed.bias = c.flag("use_bias", true);
  to.feed.gated = false;
  read_rotary_of_all(c, to);
  read_window_of_all(c, to);
  plan.names.up = "mlp.c_fc";
  plan.names.down = "mlp.c_proj";
  return plan;
}

/// The entries of `known_decoders`.
inline decoder_architectures gpt2_list() {
  return {
      {"gpt2", gpt2, "GPT-2", "`add_cross_attention`"},
      {"gpt_bigcode", gpt_bigcode, "StarCoder (GPTBigCode)", "`add_cross_attention`"},
      {"starcoder2", starcoder2, "StarCoder 2", ""},
  };
}

}  // namespace dimwise::models::architectures
