// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/bloom.hpp -- BLOOM (Scao et al. 2022): its settings and array names.
//
// Layer: models. ALiBi instead of learned or rotary positions, and a norm of the token embeddings.
// Tests: the conformance suite `architectures`, case bloom
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

namespace dimwise::models::architectures {

/// BloomForCausalLM: ALiBi, a norm of the embeddings, and one array for queries, keys and values, by heads.
[[nodiscard]] inline decoder_plan bloom(io::config_check& c) {
  decoder_plan plan;
  decoder_config& to = plan.config;
  const auto either = [&](const char* key, const char* other) { return std::string(c.has(key) ? key : other); };
  to.vocab = c.count("vocab_size");
  to.d_model = c.count(either("n_embed", "hidden_size"));
  to.hidden = 4 * to.d_model;
  to.longest = c.count("seq_length", 2048);
  read_layers(c, to, either("n_layer", "num_hidden_layers"));
  const std::size_t heads = c.count(either("n_head", "num_attention_heads"));
  read_heads(c, to, heads, heads, 0);
  to.norm = {.kind = norm_kind::layer,
             .epsilon = c.number("layer_norm_epsilon", 1e-5, io::number_range::from_zero),
             .bias = true};
  to.embedding_norm = to.norm;
  to.residual_from_norm = c.flag("apply_residual_connection_post_layernorm", false);
  to.input_bias = to.output_bias = true;
  to.feed = {.activation = activation_kind::gelu_tanh, .gated = false, .bias = true};
  to.tied = c.flag("tie_word_embeddings", true);
  to.alibi = true;

  decoder_names& names = plan.names;
  names.prefix = "transformer.";
  names.tokens = "word_embeddings";
  names.embedding_norm = "word_embeddings_layernorm";
  names.layer = "h.";
  names.order = qkv_order::by_groups;
  names.qkv = "self_attention.query_key_value";
  names.attention = "self_attention.dense";
  names.up = "mlp.dense_h_to_4h";
  names.down = "mlp.dense_4h_to_h";
  names.norm = "ln_f";
  names.ignored.clear();
  return plan;
}

/// The entry of `known_decoders`.
inline decoder_architectures bloom_list() { return {{"bloom", bloom, "BLOOM", ""}}; }

}  // namespace dimwise::models::architectures
