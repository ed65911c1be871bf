// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders/nomic_bert.hpp -- Nomic BERT (Nussbaum et al. 2024): its settings and array names.
//
// Layer: models. Rotary positions, norms after the residuals, gated feed-forward. Reads the keys and names of
// HuggingFace, and those of the original checkpoints: n_embd, Wqkv, fc11, fc12.
// Tests: the conformance suite `architectures`, case nomic_bert
#pragma once

#include <dimwise/models/encoder/keys.hpp>

#include <algorithm>

namespace dimwise::models {

namespace detail {

// The keys of the original checkpoints.
inline encoder_description read_first_nomic_settings(io::config_check& config, const io::archive& weights) {
  const encoder_keys keys{{"vocab_size", 30528}, {"n_embd", 768}, {"n_head", 12}, {"n_inner", 3072}, {"n_layer", 12}};
  encoder_description d = described_encoder(config, weights, keys, 8);
  encoder_config& c = d.config;
  c.longest = config.count("n_positions", 8192);
  read_epsilon(config, "layer_norm_epsilon", 1e-12, c);
  config.expect_word("activation_function", {"swiglu"}, "swiglu");
  c.feed = {.activation = activation_kind::silu, .gated = true, .bias = config.flag("mlp_fc1_bias", false)};
  config.expect_flag("mlp_fc2_bias", c.feed.bias, false);
  c.attention_bias = config.flag("qkv_proj_bias", false);
  for (const char* key : {"prenorm", "use_rms_norm", "causal", "parallel_block", "rotary_emb_interleaved"}) {
    config.expect_flag(key, false, false);
  }
  if (config.has("rotary_emb_scale_base")) { config.differs("rotary_emb_scale_base is not supported"); }
  // The factor changes the positions of texts beyond those of training only; such texts are rejected.
  if (config.has("rotary_scaling_factor")) { c.longest = config.count("max_trained_positions", 2048); }
  const std::size_t multiple = config.count("pad_vocab_size_multiple", 1);
  c.extents.vocab = (c.extents.vocab + multiple - 1) / multiple * multiple;
  c.rotary.push_back(read_rotary(config, c.extents.of_head,
                                 {.base = 1000, .base_key = "rotary_emb_base", .partial_key = "rotary_emb_fraction"}));
  return d;
}
inline encoder_description read_new_nomic_settings(io::config_check& config, const io::archive& weights) {
  encoder_description d = described_encoder(config, weights, {.head = {"head_dim", 0}}, 8);
  encoder_config& c = d.config;
  c.longest = config.count("max_position_embeddings", 2048);
  read_epsilon(config, "layer_norm_eps", 1e-12, c);
  c.feed = {.activation = activation_of(config, "hidden_act", "gelu"), .gated = true, .bias = false};
  c.attention_bias = false;
  c.rotary.push_back(read_rotary(config, c.extents.of_head));
  return d;
}
inline void name_nomic_blocks(encoder_names& n, std::size_t count, bool first_names) {
  if (first_names) {
    n.embedding_norm = "emb_ln";
    n.blocks = numbered_blocks("encoder.layers.", count);
    n.query_key_value = "attn.Wqkv";
    n.output = "attn.out_proj";
    n.norm1 = "norm1";
    n.gate = "mlp.fc12";
    n.up = "mlp.fc11";
    n.down = "mlp.fc2";
    n.norm2 = "norm2";
    return;
  }
  n.blocks = numbered_blocks("layers.", count);
  n.query = "self_attn.q_proj";
  n.key = "self_attn.k_proj";
  n.value = "self_attn.v_proj";
  n.output = "self_attn.o_proj";
  n.norm1 = "post_attention_layernorm";
  n.gate = "mlp.gate_proj";
  n.up = "mlp.up_proj";
  n.down = "mlp.down_proj";
  n.norm2 = "post_mlp_layernorm";
}

}  // namespace detail

/// Reads the settings of Nomic BERT from `config`, with its array names. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_nomic_settings(io::config_check& config, const io::archive& weights) {
  encoder_description d = config.has("n_embd") ? detail::read_first_nomic_settings(config, weights)
                                               : detail::read_new_nomic_settings(config, weights);
  encoder_config& c = d.config;
  c.extents.segments = whole_number(config, "type_vocab_size", 2);
  c.pad = whole_number(config, "pad_token_id", 0);
  c.classifier = {.dense = true, .activation = activation_kind::tanh};
  c.predictor = {.dense = true, .activation = c.feed.activation, .norm = c.norm};
  reject_other_encoders(config);
  const auto& all = weights.arrays();
  const bool first_names =
      std::any_of(all.begin(), all.end(), [](const auto& a) { return a.name.find("attn.Wqkv.") != std::string::npos; });
  detail::name_nomic_blocks(d.names, c.extents.blocks, first_names);
  // NomicBertForPreTraining of the original code has its encoder in `bert`.
  const bool pre_trained = weights.find("bert.embeddings.word_embeddings.weight") != nullptr;
  d.names.prefix = pre_trained ? "bert." : "nomic_bert.";
  d.names.classifier = {.dense = "pooler.dense", .dense_in_model = true, .output = "classifier"};
  d.names.token_classifier = {.output = "classifier"};
  d.names.predictor = names_of_predictions(first_names ? "layer_norm" : "layernorm");
  if (first_names) { c.predictor.dense_bias = c.predictor_bias = c.feed.bias; }
  d.names.unused = {"pooler.", "classifier.", "cls.seq_relationship.", "cls."};
  return d;
}

/// Nomic BERT for `read_encoder`: the value of `model_type` and the function that reads it.
inline const encoder_family nomic_bert_family{{"nomic_bert"}, read_nomic_settings};

}  // namespace dimwise::models
