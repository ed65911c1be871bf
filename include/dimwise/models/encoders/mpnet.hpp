// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders/mpnet.hpp -- MPNet (Song et al. 2020) as settings and array names.
//
// Layer: models. One table of relative biases serves all layers; positions begin after the id of padding, which is 1;
// there are no token types.
// Tests: the conformance suite `architectures`, case mpnet
#pragma once

#include <dimwise/models/encoders/roberta.hpp>

namespace dimwise::models {

/// The settings and array names of MPNet, read from its config.json. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_mpnet_settings(io::config_check& config, const io::archive& weights) {
  encoder_keys keys;
  keys.vocab.otherwise = 30527;
  encoder_description d = described_like_bert(config, weights, keys);
  encoder_config& c = d.config;
  positions_after_padding(config, 1, c);
  c.extents.segments = 0;
  c.extents.buckets = config.count("relative_attention_num_buckets", 32);
  c.bucket_distance = 128;
  name_roberta_heads(d);

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

/// MPNet in the list of `read_encoder`.
inline const encoder_family mpnet_family{{"mpnet"}, read_mpnet_settings};

}  // namespace dimwise::models
