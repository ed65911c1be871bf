// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders/distilbert.hpp -- DistilBERT (Sanh et al. 2019): its settings and array names.
//
// Layer: models. No token types; the epsilon of the norms is 1e-12. Sinusoidal positions are stored as a table.
// Tests: the conformance suite `architectures`, cases distilbert and distilbert-seqcls
#pragma once

#include <dimwise/models/encoder/keys.hpp>

namespace dimwise::models {

/// Reads the settings of DistilBERT from `config`, with its array names. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_distilbert_settings(io::config_check& config,
                                                                  const io::archive& weights) {
  encoder_keys keys;
  keys.features = {"dim", 768};
  keys.heads = {"n_heads", 12};
  keys.hidden = {"hidden_dim", 3072};
  keys.layers = {"n_layers", 6};
  encoder_description d = described_encoder(config, weights, keys, 16);
  encoder_config& c = d.config;
  c.extents.positions = c.longest = config.count("max_position_embeddings", 512);
  c.pad = whole_number(config, "pad_token_id", 0);
  c.feed.activation = activation_of(config, "activation", "gelu");
  c.classifier = {.dense = true, .activation = activation_kind::relu};
  c.predictor = {.dense = true, .activation = c.feed.activation, .norm = c.norm};
  reject_other_encoders(config);

  encoder_names& n = d.names;
  n.prefix = "distilbert.";
  n.blocks = numbered_blocks("transformer.layer.", c.extents.blocks);
  n.query = "attention.q_lin";
  n.key = "attention.k_lin";
  n.value = "attention.v_lin";
  n.output = "attention.out_lin";
  n.norm1 = "sa_layer_norm";
  n.up = "ffn.lin1";
  n.down = "ffn.lin2";
  n.norm2 = "output_layer_norm";
  n.classifier = {.dense = "pre_classifier", .output = "classifier"};
  n.token_classifier = {.output = "classifier"};
  n.predictor = {.dense = "vocab_transform",
                 .norm = "vocab_layer_norm",
                 .output = "vocab_projector",
                 .output_bias = "vocab_projector.bias"};
  n.unused = {"pre_classifier.",  "classifier.",       "qa_outputs.",
              "vocab_transform.", "vocab_layer_norm.", "vocab_projector."};
  return d;
}

/// DistilBERT for `read_encoder`: the value of `model_type` and the function that reads it.
inline const encoder_family distilbert_family{{"distilbert"}, read_distilbert_settings};

}  // namespace dimwise::models
