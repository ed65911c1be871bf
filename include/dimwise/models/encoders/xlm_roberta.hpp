// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders/xlm_roberta.hpp -- XLM-RoBERTa (Conneau et al. 2020), also with rotary positions and adapters
// of tasks as jina-embeddings-v3 (Sturua et al. 2024): settings and array names.
//
// Layer: models. Differences from RoBERTa if the positions are rotary: no table of positions, one array for queries,
// keys and values, and other names.
// Tests: the conformance suite `architectures`, case xlm-roberta; tests/models/encoders/jina.test.cpp
#pragma once

#include <dimwise/models/encoders/roberta.hpp>

namespace dimwise::models {

namespace detail {

inline encoder_adapters read_adapters(io::config_check& config) {
  encoder_adapters to;
  to.names = config.words("lora_adaptations");
  if (to.names.empty()) { return to; }
  to.rank = config.count("lora_rank", 4);
  to.scale = config.number("lora_alpha", 1, io::number_range::above_zero) / static_cast<double>(to.rank);
  return to;
}

inline encoder_description read_rotary_roberta_settings(io::config_check& config, const io::archive& weights) {
  const encoder_keys keys{{"vocab_size", 250002},
                          {"hidden_size", 1024},
                          {"num_attention_heads", 16},
                          {"intermediate_size", 4096},
                          {"num_hidden_layers", 24}};
  encoder_description d = described_encoder(config, weights, keys, 12);
  encoder_config& c = d.config;
  c.longest = config.count("max_position_embeddings", 8194);
  c.extents.segments = whole_number(config, "type_vocab_size", 1);
  c.pad = whole_number(config, "pad_token_id", 1);
  read_epsilon(config, "layer_norm_eps", 1e-5, c);
  c.feed.activation = activation_of(config, "hidden_act", "gelu");
  reject_other_encoders(config, "rotary");
  config.expect_flag("rotary_emb_interleaved", false, false);
  for (const char* key : {"rotary_emb_dim", "rotary_emb_scale_base"}) {
    if (config.has(key)) { config.differs(std::string(key) + " is a setting that is not read"); }
  }
  c.rotary.push_back(read_rotary(config, c.extents.of_head, {.base_key = "rotary_emb_base"}));
  c.predictor = {.dense = true, .activation = c.feed.activation, .norm = c.norm};
  d.adapters = read_adapters(config);

  encoder_names& n = d.names;
  n.prefix = "roberta.";
  n.embedding_norm = "emb_ln";
  n.blocks = numbered_blocks("encoder.layers.", c.extents.blocks);
  n.query_key_value = "mixer.Wqkv";
  n.output = "mixer.out_proj";
  n.norm1 = "norm1";
  n.up = "mlp.fc1";
  n.down = "mlp.fc2";
  n.norm2 = "norm2";
  n.unused = {"pooler.", "classifier."};
  set_roberta_heads(d);
  return d;
}

}  // namespace detail

/// Reads the settings of XLM-RoBERTa from `config`, with its array names. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_xlm_roberta_settings(io::config_check& config,
                                                                   const io::archive& weights) {
  const bool rotary = config.word("position_embedding_type", "absolute") == "rotary";
  return rotary ? detail::read_rotary_roberta_settings(config, weights) : read_roberta_settings(config, weights);
}

/// XLM-RoBERTa for `read_encoder`: the value of `model_type` and the function that reads it.
inline const encoder_family xlm_roberta_family{{"xlm-roberta"}, read_xlm_roberta_settings};

}  // namespace dimwise::models
