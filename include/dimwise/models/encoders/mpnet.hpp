// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders/mpnet.hpp -- MPNet (Song et al. 2020): its settings and array names.
//
// Layer: models. Differences from BERT:
//
//   * a learned bias for each bucket of relative positions, as in T5; all layers share it
//   * the padding token always has id 1, and positions begin after it
//   * no token types
//
// Tests: the conformance suite `architectures`, case mpnet
#pragma once

#include <dimwise/models/encoders/roberta.hpp>

namespace dimwise::models {

/// Reads the settings of MPNet from `config`, with its array names. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_mpnet_settings(io::config_check& config, const io::archive& weights) {
  encoder_description d = described_like_bert(config, weights, keys_with({.vocab = 30527}));
  encoder_config& c = d.config;
  begin_positions_after_padding(config, 1, c);
  c.extents.segments = 0;  // token types
  c.extents.buckets = config.count("relative_attention_num_buckets", 32);
  c.bucket_distance = 128;  // not in config.json: transformers has the same constant
  set_roberta_heads(d);

  encoder_names& n = d.names;
  n.prefix = "mpnet.";
  n.buckets = "encoder.relative_attention_bias";
  n.query = "attention.attn.q";
  n.key = "attention.attn.k";
  n.value = "attention.attn.v";
  n.output = "attention.attn.o";
  n.norm1 = "attention.LayerNorm";
  return d;
}

/// MPNet for `read_encoder`: the value of `model_type` and the function that reads it.
inline const encoder_family mpnet_family{{"mpnet"}, read_mpnet_settings};

}  // namespace dimwise::models
