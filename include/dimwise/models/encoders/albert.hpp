// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders/albert.hpp -- ALBERT (Lan et al. 2020): its settings and array names.
//
// Layer: models. Differences from BERT: groups of layers share their parameters, and the embedding tables have fewer
// features than the layers.
// Tests: the conformance suite `architectures`, case albert
#pragma once

#include <dimwise/models/encoders/bert.hpp>

namespace dimwise::models {

/// Reads the settings of ALBERT from `config`, with its array names. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_albert_settings(io::config_check& config, const io::archive& weights) {
  encoder_keys keys = keys_with({.vocab = 30000, .features = 4096, .heads = 64, .hidden = 16384});
  keys.layers = {"num_hidden_groups", 1};  // each group has the parameters of one layer, or of inner_group_num layers
  encoder_description d = described_like_bert(config, weights, keys);
  encoder_config& c = d.config;
  c.extents.embedding = config.count("embedding_size", 128);
  c.projects = true;
  c.feed.activation = activation_of(config, "hidden_act", "gelu_new");
  c.classifier = {.dense = true, .activation = activation_kind::tanh};
  c.predictor.activation = c.feed.activation;

  const std::size_t groups = c.extents.blocks;
  const std::size_t inner = config.count("inner_group_num", 1);
  const std::size_t layers = config.count("num_hidden_layers", 12);
  constexpr std::size_t most = 4096;  // layers of a group share parameters: their number alone could exhaust memory
  if (layers > most || layers < groups || inner > most || groups * inner * 16 > weights.arrays().size()) {
    config.differs("num_hidden_layers = " + std::to_string(layers) + ", num_hidden_groups = " + std::to_string(groups) +
                   " and inner_group_num = " + std::to_string(inner) + " do not fit " + weights.title() +
                   ", which has " + std::to_string(weights.arrays().size()) + " arrays");
    return d;
  }
  c.layers.clear();
  d.names.blocks.clear();
  // Layer i belongs to group floor(i / (layers / groups)), rounded as transformers rounds it.
  for (std::size_t i = 0; i < layers; ++i) {
    const double layers_of_group = static_cast<double>(layers) / static_cast<double>(groups);
    const auto group = std::min(static_cast<std::size_t>(static_cast<double>(i) / layers_of_group), groups - 1);
    for (std::size_t j = 0; j < inner; ++j) { c.layers.push_back({group * inner + j, -1, 0}); }
  }
  for (std::size_t g = 0; g < groups; ++g) {
    for (const std::string& one : numbered_blocks(".albert_layers.", inner)) {
      d.names.blocks.push_back("encoder.albert_layer_groups." + std::to_string(g) + one);
    }
  }
  c.extents.blocks = groups * inner;

  encoder_names& n = d.names;
  n.prefix = "albert.";
  n.projection = "encoder.embedding_hidden_mapping_in";
  n.query = "attention.query";
  n.key = "attention.key";
  n.value = "attention.value";
  n.output = "attention.dense";
  n.norm1 = "attention.LayerNorm";
  n.up = "ffn";
  n.down = "ffn_output";
  n.norm2 = "full_layer_layer_norm";
  n.classifier = {.dense = "pooler", .dense_in_model = true, .output = "classifier"};
  n.token_classifier = {.output = "classifier"};
  n.predictor = {.dense = "predictions.dense",
                 .norm = "predictions.LayerNorm",
                 .output = "predictions.decoder",
                 .output_bias = "predictions.bias"};
  n.unused.insert(n.unused.end(), {"predictions.", "sop_classifier."});
  return d;
}

/// ALBERT for `read_encoder`: the value of `model_type` and the function that reads it.
inline const encoder_family albert_family{{"albert"}, read_albert_settings};

}  // namespace dimwise::models
