// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders/gte.hpp -- GTE 1.5 and multilingual GTE (Zhang et al. 2024), whose model_type is "new":
// settings and array names.
//
// Layer: models. Differences from BERT: rotary positions with a fixed NTK scaling, one array for queries, keys and
// values, and a gated feed-forward layer whose last map alone has a bias.
// Tests: tests/models/encoders/gte.test.cpp
#pragma once

#include <dimwise/models/encoder/keys.hpp>

#include <cmath>

namespace dimwise::models {

namespace detail {

// The base times the factor, and all angles divided by factor^(2/n) for n features: the last pair turns 1/factor as
// far.
inline rotary_settings read_gte_rotary(io::config_check& config, std::size_t features) {
  using enum io::number_range;
  const double base = config.number("rope_theta", 10000, above_zero);
  double factor = 1;
  if (config.has("rope_scaling")) {
    io::config_check scaling(config.object("rope_scaling"), "rope_scaling");
    if (scaling.word("type") != "ntk") { scaling.differs("the type is not ntk, the one that is read"); }
    factor = scaling.number("factor", {}, above_zero);
    if (scaling.has("mixed_b")) { scaling.differs("mixed_b is set; a factor that grows with the pair is not read"); }
    config.differs_in(scaling);
  }
  constexpr std::size_t most = 65536;  // of a head, before its arrays are compared
  if (features % 2 != 0 || features > most) {
    config.differs("rotary positions turn " + std::to_string(features) +
                   " features of a head, an even number up to 65536 was expected");
  }
  rotary_settings to;
  if (!config.problems().empty()) { return to; }
  const auto n = static_cast<double>(features);
  for (std::size_t i = 0; i < features / 2; ++i) {
    to.angles.push_back(std::pow(base * factor, -2 * static_cast<double>(i) / n) / std::pow(factor, 2 / n));
  }
  return to;
}

}  // namespace detail

/// Reads the settings of GTE from `config`, with its array names. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_gte_settings(io::config_check& config, const io::archive& weights) {
  encoder_description d = described_encoder(config, weights, {.vocab = {"vocab_size", 30528}}, 11);
  encoder_config& c = d.config;
  c.longest = config.count("max_position_embeddings", 2048);
  c.extents.segments = whole_number(config, "type_vocab_size", 1);
  c.pad = whole_number(config, "pad_token_id", 0);
  config.expect_word("layer_norm_type", {"layer_norm"}, "layer_norm");
  read_epsilon(config, "layer_norm_eps", 1e-12, c);
  c.feed = {.activation = activation_of(config, "hidden_act", "gelu"), .gated = true, .bias = false, .down_bias = true};
  for (const char* key : {"logn_attention_scale", "logn_attention_clip1"}) { config.expect_flag(key, false, false); }
  reject_other_encoders(config, "rope");
  c.rotary.push_back(detail::read_gte_rotary(config, c.extents.of_head));
  c.classifier = {.dense = true, .activation = activation_kind::tanh};
  c.predictor = {.dense = true, .activation = c.feed.activation, .norm = c.norm};

  encoder_names& n = d.names;
  n.prefix = "new.";
  n.blocks = numbered_blocks("encoder.layer.", c.extents.blocks);
  if (config.flag("pack_qkv", true)) { n.query_key_value = "attention.qkv_proj"; }
  n.query = "attention.q_proj";
  n.key = "attention.k_proj";
  n.value = "attention.v_proj";
  n.output = "attention.o_proj";
  n.norm1 = "attn_ln";
  n.gate_up = "mlp.up_gate_proj";
  n.up_first = true;
  n.down = "mlp.down_proj";
  n.norm2 = "mlp_ln";
  n.classifier = {.dense = "pooler.dense", .dense_in_model = true, .output = "classifier"};
  n.token_classifier = {.output = "classifier"};
  n.predictor = {.dense = "lm_head.dense",
                 .norm = "lm_head.norm",
                 .output = "lm_head.decoder",
                 .output_bias = "lm_head.decoder.bias"};
  n.unused = {"pooler.", "classifier.", "lm_head.", "qa_outputs."};
  return d;
}

/// GTE for `read_encoder`: the value of `model_type` and the function that reads it.
inline const encoder_family gte_family{{"new"}, read_gte_settings};

}  // namespace dimwise::models
