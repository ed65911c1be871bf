// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/falcon.hpp -- Falcon (Almazrouei et al. 2023): its settings and array names.
//
// Layer: models. The old and the new architecture; attention and feed-forward in parallel; rotary positions or ALiBi.
// Tests: the conformance suite `architectures`, cases falcon-old, falcon-new and falcon-alibi
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

#include <cmath>

namespace dimwise::models::architectures {

/// FalconForCausalLM: one array for queries, keys and values, by key heads. ALiBi is added before the scores are
/// scaled.
[[nodiscard]] inline decoder_plan falcon(io::config_check& c) {
  decoder_plan plan;
  decoder_config& to = plan.config;
  to.vocab = c.count("vocab_size");
  to.d_model = c.count("hidden_size");
  to.hidden = c.count("ffn_hidden_size", 4 * to.d_model);
  to.longest = c.count("max_position_embeddings", 2048);
  read_layers(c, to, "num_hidden_layers");
  const std::size_t heads = c.count("num_attention_heads");
  const bool newer = c.flag("new_decoder_architecture", false);
  const bool one_key = c.flag("multi_query", true);
  const std::size_t kv_heads = newer ? c.count("num_kv_heads", heads) : (one_key ? 1 : heads);
  read_heads(c, to, heads, kv_heads, 0);
  to.norm = {.kind = norm_kind::layer,
             .epsilon = c.number("layer_norm_epsilon", 1e-5, io::number_range::from_zero),
             .bias = true};
  const bool bias = c.flag("bias", false);
  to.input_bias = to.output_bias = bias;
  to.feed = {.activation = activation_of(c, "activation", "gelu"), .gated = false, .bias = bias};
  to.tied = c.flag("tie_word_embeddings", true);
  to.parallel = c.flag("parallel_attn", true);
  const std::size_t norms = c.count("num_ln_in_parallel_attn", newer ? 2 : 1);
  to.single_norm = to.parallel && norms == 1;
  if (norms > 2 || (!newer && to.parallel && norms != 1) || (newer && !to.parallel)) {
    c.differs(
        "new_decoder_architecture, parallel_attn and num_ln_in_parallel_attn do not fit: the new architecture is "
        "parallel with 1 or 2 norms, the old one has 1 norm where it is parallel");
  }
  to.alibi = c.flag("alibi", false);
  if (to.alibi) {
    to.alibi_scale = 1 / std::sqrt(static_cast<double>(to.d_k));
  } else {
    read_rotary_of_all(c, to);
  }

  decoder_names& names = plan.names;
  names.prefix = "transformer.";
  names.tokens = "word_embeddings";
  names.layer = "h.";
  names.order = qkv_order::by_groups;
  names.qkv = "self_attention.query_key_value";
  names.attention = "self_attention.dense";
  names.up = "mlp.dense_h_to_4h";
  names.down = "mlp.dense_4h_to_h";
  names.norm = "ln_f";
  names.ignored = {"self_attention.rotary_emb.inv_freq"};
  if (to.parallel && norms == 2) {
    names.norm1 = "ln_attn";
    names.norm2 = "ln_mlp";
  }
  return plan;
}

/// The entry of `known_decoders`.
inline decoder_architectures falcon_list() {
  return {{"falcon", falcon, "Falcon", "the older values of `model_type` of RefinedWeb"}};
}

}  // namespace dimwise::models::architectures
