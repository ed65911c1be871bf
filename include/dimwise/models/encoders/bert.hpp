// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders/bert.hpp -- BERT (Devlin et al. 2019): its settings and array names.
//
// Layer: models.
// Tests: the conformance suite `architectures`, case bert-cross-encoder
#pragma once

#include <dimwise/models/encoder/keys.hpp>

namespace dimwise::models {

/// The settings and names that BERT and its descendants share: learned positions, norms after the residuals.
[[nodiscard]] inline encoder_description described_like_bert(io::config_check& config, const io::archive& weights,
                                                             const encoder_keys& keys = {}) {
  encoder_description d = described_encoder(config, weights, keys, 16);
  encoder_config& c = d.config;
  c.extents.positions = c.longest = config.count("max_position_embeddings", 512);
  c.extents.segments = whole_number(config, "type_vocab_size", 2);
  c.pad = whole_number(config, "pad_token_id", 0);
  read_epsilon(config, "layer_norm_eps", 1e-12, c);
  c.feed.activation = activation_of(config, "hidden_act", "gelu");
  c.predictor = {.dense = true, .activation = c.feed.activation, .norm = c.norm};
  reject_other_encoders(config);
  d.names.blocks = numbered_blocks("encoder.layer.", c.extents.blocks);
  d.names.unused = {"pooler.", "classifier.", "qa_outputs."};
  return d;
}

/// Reads the settings of BERT from `config`, with its array names. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_bert_settings(io::config_check& config, const io::archive& weights) {
  encoder_description d = described_like_bert(config, weights);
  d.names.prefix = "bert.";
  d.config.classifier = {.dense = true, .activation = activation_kind::tanh};
  d.names.classifier = {.dense = "pooler.dense", .dense_in_model = true, .output = "classifier"};
  d.names.token_classifier = {.output = "classifier"};
  d.names.predictor = names_of_predictions();
  d.names.unused.insert(d.names.unused.end(), {"cls.seq_relationship.", "cls."});
  return d;
}

/// BERT for `read_encoder`: the value of `model_type` and the function that reads it.
inline const encoder_family bert_family{{"bert"}, read_bert_settings};

}  // namespace dimwise::models
