// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders/roberta.hpp -- RoBERTa (Liu et al. 2019) and CamemBERT (Martin et al. 2020): settings and
// array names.
//
// Layer: models. Differences from BERT: positions count the tokens that are not padding, from pad_token_id + 1; the
// heads have other names.
// Tests: the conformance suite `architectures`, case roberta
#pragma once

#include <dimwise/models/encoders/bert.hpp>

namespace dimwise::models {

/// Positions that begin at `pad` + 1. The first rows of the table of positions are unused.
inline void begin_positions_after_padding(io::config_check& config, std::size_t pad, encoder_config& c) {
  c.pad = pad;
  c.positions_skip_padding = true;
  if (c.extents.positions <= pad + 1) {
    config.differs("max_position_embeddings is " + std::to_string(c.extents.positions) +
                   ", and the positions begin at pad_token_id + 1 = " + std::to_string(pad + 1));
    return;
  }
  c.longest = c.extents.positions - pad - 1;
}
/// The heads of RoBERTa: their settings and array names.
inline void set_roberta_heads(encoder_description& d) {
  d.config.classifier = {.dense = true, .activation = activation_kind::tanh};
  d.config.predictor.activation = activation_kind::gelu;
  d.names.classifier = {.dense = "classifier.dense", .output = "classifier.out_proj"};
  d.names.token_classifier = {.output = "classifier"};
  d.names.predictor = {.dense = "lm_head.dense",
                       .norm = "lm_head.layer_norm",
                       .output = "lm_head.decoder",
                       .output_bias = "lm_head.bias"};
  d.names.unused.emplace_back("lm_head.");
}

/// Reads the settings of RoBERTa, XLM-RoBERTa with a table of positions, or CamemBERT from `config`, with its array
/// names. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_roberta_settings(io::config_check& config, const io::archive& weights) {
  const std::size_t vocab = model_type_of(config) == "roberta" ? 50265 : 30522;
  encoder_description d = described_like_bert(config, weights, keys_with({.vocab = vocab}));
  begin_positions_after_padding(config, whole_number(config, "pad_token_id", 1), d.config);
  d.names.prefix = "roberta.";
  set_roberta_heads(d);
  return d;
}

/// RoBERTa and CamemBERT for `read_encoder`: their values of `model_type` and the function that reads them.
inline const encoder_family roberta_family{{"roberta", "camembert"}, read_roberta_settings};

}  // namespace dimwise::models
