// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders/roberta.hpp -- RoBERTa (Liu et al. 2019) and XLM-RoBERTa (Conneau et al. 2020) as settings
// and array names.
//
// Layer: models. Positions count the tokens that are not padding, from pad_token_id + 1.
// Tests: the conformance suite `architectures`, cases roberta and xlm-roberta
#pragma once

#include <dimwise/models/encoders/bert.hpp>

namespace dimwise::models {

/// Positions that begin after the id of padding: the table has rows that no token uses.
inline void positions_after_padding(io::config_check& config, std::size_t pad, encoder_config& c) {
  c.pad = pad;
  c.positions_skip_padding = true;
  if (c.extents.positions <= pad + 1) {
    config.differs("max_position_embeddings is " + std::to_string(c.extents.positions) +
                   ", and the positions begin at pad_token_id + 1 = " + std::to_string(pad + 1));
    return;
  }
  c.longest = c.extents.positions - pad - 1;
}
/// The names of RoBERTa's heads.
inline void name_roberta_heads(encoder_description& d) {
  d.config.classifier = {true, true, activation_kind::tanh, {}, false};
  d.config.predictor.activation = activation_kind::gelu;
  d.names.classifier = {"classifier.dense", false, "", "classifier.out_proj", ""};
  d.names.token_classifier = {"", false, "", "classifier", ""};
  d.names.predictor = {"lm_head.dense", false, "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias"};
  d.names.unused.emplace_back("lm_head.");
}

/// The settings and array names of RoBERTa and XLM-RoBERTa, read from its config.json. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_roberta_settings(io::config_check& config, const io::archive& weights) {
  encoder_keys keys;
  keys.vocab.otherwise = config.word("model_type") == "roberta" ? 50265 : 30522;
  encoder_description d = described_like_bert(config, weights, keys);
  positions_after_padding(config, whole_number(config, "pad_token_id", 1), d.config);
  d.names.prefix = "roberta.";
  name_roberta_heads(d);
  return d;
}

/// RoBERTa and XLM-RoBERTa in the list of `read_encoder`.
inline const encoder_family roberta_family{{"roberta", "xlm-roberta"}, read_roberta_settings};

}  // namespace dimwise::models
