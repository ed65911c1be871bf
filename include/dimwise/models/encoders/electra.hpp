// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders/electra.hpp -- ELECTRA (Clark et al. 2020): its settings and array names.
//
// Layer: models. The embedding tables may have fewer features than the layers.
// Tests: the conformance suite `architectures`, case electra
#pragma once

#include <dimwise/models/encoders/bert.hpp>

namespace dimwise::models {

/// Reads the settings of ELECTRA from `config`, with its array names. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_electra_settings(io::config_check& config, const io::archive& weights) {
  encoder_description d =
      described_like_bert(config, weights, keys_with({.features = 256, .heads = 4, .hidden = 1024}));
  encoder_config& c = d.config;
  c.extents.embedding = config.count("embedding_size", 128);
  c.projects = c.extents.embedding != c.extents.features;
  c.classifier = {.dense = true, .activation = activation_kind::gelu};
  c.predictor.activation = activation_kind::gelu;
  d.names.prefix = "electra.";
  d.names.projection = "embeddings_project";
  d.names.classifier = {.dense = "classifier.dense", .output = "classifier.out_proj"};
  d.names.token_classifier = {.output = "classifier"};
  d.names.predictor = {.dense = "generator_predictions.dense",
                       .norm = "generator_predictions.LayerNorm",
                       .output = "generator_lm_head",
                       .output_bias = "generator_lm_head.bias"};
  d.names.unused.insert(d.names.unused.end(),
                        {"discriminator_predictions.", "generator_predictions.", "generator_lm_head."});
  return d;
}

/// ELECTRA for `read_encoder`: the value of `model_type` and the function that reads it.
inline const encoder_family electra_family{{"electra"}, read_electra_settings};

}  // namespace dimwise::models
