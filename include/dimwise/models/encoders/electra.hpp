// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders/electra.hpp -- ELECTRA (Clark et al. 2020) as settings and array names.
//
// Layer: models. The embedding tables may have fewer features than the layers.
// Tests: the conformance suite `architectures`, case electra
#pragma once

#include <dimwise/models/encoders/bert.hpp>

namespace dimwise::models {

/// The settings and array names of ELECTRA, read from its config.json. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_electra_settings(io::config_check& config, const io::archive& weights) {
  encoder_keys keys;
  keys.features.otherwise = 256;
  keys.heads.otherwise = 4;
  keys.hidden.otherwise = 1024;
  encoder_description d = described_like_bert(config, weights, keys);
  encoder_config& c = d.config;
  c.extents.embedding = config.count("embedding_size", 128);
  c.projects = c.extents.embedding != c.extents.features;
  c.classifier = {true, true, activation_kind::gelu, {}, false};
  c.predictor.activation = activation_kind::gelu;
  d.names.prefix = "electra.";
  d.names.projection = "embeddings_project";
  d.names.classifier = {"classifier.dense", false, "", "classifier.out_proj", ""};
  d.names.token_classifier = {"", false, "", "classifier", ""};
  d.names.predictor = {"generator_predictions.dense", false, "generator_predictions.LayerNorm", "generator_lm_head",
                       "generator_lm_head.bias"};
  d.names.unused.insert(d.names.unused.end(),
                        {"discriminator_predictions.", "generator_predictions.", "generator_lm_head."});
  return d;
}

/// ELECTRA in the list of `read_encoder`.
inline const encoder_family electra_family{{"electra"}, read_electra_settings};

}  // namespace dimwise::models
