// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders/deberta_v2.hpp -- DeBERTa 2 and 3 (He et al. 2021, 2023): their settings and array names.
//
// Layer: models. Differences from BERT:
//
//   * scores of queries and keys with features of their distances, instead of learned positions
//   * a convolution after the first layer, in the two large files of DeBERTa 2
//   * token types and positions of the input are optional; the pooler is a part of the classifier
//
// Tests: tests/models/encoders/deberta.test.cpp
#pragma once

#include <dimwise/models/encoders/bert.hpp>

#include <cmath>

namespace dimwise::models {

namespace detail {

// The scores of distances, and their table: a row for each bucket in both directions.
inline void read_disentangled(io::config_check& config, encoder_config& c) {
  disentangled_settings& to = c.disentangled;
  for (const std::string& kind : words_between_bars(config, "pos_att_type")) {
    if (kind != "c2p" && kind != "p2c") {
      config.differs("pos_att_type has " + io::detail::printable(kind) + ", c2p or p2c was expected");
    }
    (kind == "c2p" ? to.of_queries : to.of_keys) = true;
  }
  // Also without features of distances.
  const int terms = 1 + (to.of_queries ? 1 : 0) + (to.of_keys ? 1 : 0);
  c.score_scale = 1 / std::sqrt(static_cast<double>(c.extents.of_head) * terms);
  if (!config.flag("relative_attention", false)) {
    to = {};
    return;
  }
  if (!to.any()) { config.differs("relative_attention is true, and pos_att_type names neither c2p nor p2c"); }
  const double most = config.number("max_relative_positions", -1);
  to.buckets.most = most < 1 ? c.longest : config.count("max_relative_positions");
  const std::size_t buckets = config.number("position_buckets", -1) < 1 ? 0 : config.count("position_buckets");
  to.buckets.exact = buckets / 2;
  if (buckets == 1 || to.buckets.exact + 1 >= to.buckets.most) {
    config.differs("position_buckets is " + std::to_string(buckets) + ", at least 2 and below " +
                   std::to_string(2 * (to.buckets.most - 1)) + " were expected: distances up to the half are exact");
  }
  c.extents.buckets = 2 * (buckets == 0 ? to.buckets.most : buckets);
  to.own_maps = !config.flag("share_att_key", false);
  for (const std::string& norm : words_between_bars(config, "norm_rel_ebd")) {
    to.norm = to.norm || norm == "layer_norm";
    if (norm != "none" && norm != "layer_norm") { config.expect_word("norm_rel_ebd", {"none", "layer_norm"}); }
  }
}

// The convolution over neighbouring tokens, if there is one.
inline void read_convolution(io::config_check& config, encoder_config& c) {
  if (config.number("conv_kernel_size", 0) <= 0) { return; }
  c.extents.taps = config.count("conv_kernel_size");
  c.convolution = activation_of(config, "conv_act", "tanh");
  if (c.extents.taps % 2 == 0) {
    config.differs("conv_kernel_size is " + std::to_string(c.extents.taps) + ", an odd number was expected");
  }
  config.expect_count("conv_groups", 1, ": no other convolution is read");
}

}  // namespace detail

/// Reads the settings of DeBERTa 2 or 3 from `config`, with its array names. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_deberta_v2_settings(io::config_check& config,
                                                                  const io::archive& weights) {
  encoder_description d = described_like_bert(
      config, weights, keys_with({.vocab = 128100, .features = 1536, .heads = 24, .hidden = 6144, .layers = 24}));
  encoder_config& c = d.config;
  c.extents.segments = whole_number(config, "type_vocab_size", 0);
  read_epsilon(config, "layer_norm_eps", 1e-7, c);
  c.predictor.norm = c.norm;
  if (!config.flag("position_biased_input", true)) { c.extents.positions = 0; }
  detail::read_disentangled(config, c);
  for (const char* key : {"embedding_size", "pooler_hidden_size"}) {
    config.expect_count(key, c.extents.features, ", the hidden_size");
  }
  detail::read_convolution(config, c);
  c.classifier = {.dense = true, .activation = activation_of(config, "pooler_hidden_act", "gelu")};
  if (!config.flag("legacy", true)) {
    d.other_predictor = "legacy is false: the output of masked tokens under lm_predictions is not read";
  }

  encoder_names& n = d.names;
  n.prefix = "deberta.";
  n.query = "attention.self.query_proj";
  n.key = "attention.self.key_proj";
  n.value = "attention.self.value_proj";
  n.distance_query = "attention.self.pos_query_proj";
  n.distance_key = "attention.self.pos_key_proj";
  n.distance_features = "encoder.rel_embeddings";
  n.distance_norm = "encoder.LayerNorm";
  n.convolution = "encoder.conv.conv";
  n.convolution_norm = "encoder.conv.LayerNorm";
  n.classifier = {.dense = "pooler.dense", .output = "classifier"};
  n.token_classifier = {.output = "classifier"};
  n.predictor = names_of_predictions();
  n.unused.insert(n.unused.end(), {"cls.", "lm_predictions.", "mask_predictions."});
  if (c.extents.positions == 0) { n.unused.emplace_back("embeddings.position_embeddings."); }
  return d;
}

/// DeBERTa 2 and 3 for `read_encoder`: the value of `model_type` and the function that reads it.
inline const encoder_family deberta_v2_family{{"deberta-v2"}, read_deberta_v2_settings};

}  // namespace dimwise::models
