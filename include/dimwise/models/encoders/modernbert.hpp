// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders/modernbert.hpp -- ModernBERT (Warner et al. 2024): its settings and array names.
//
// Layer: models. Norms precede the branches; most layers see a window to both sides; windowed and full layers rotate by
// different thetas; the attention of layer 0 has no norm. The head is that of masked tokens, also before labels.
// Tests: the conformance suite `architectures`, case modernbert
#pragma once

#include <dimwise/models/encoder/keys.hpp>

namespace dimwise::models {

namespace detail {

// The layers: those of `layer_types`, or every n-th one full.
inline void read_modernbert_layers(io::config_check& config, encoder_config& c) {
  const auto window = static_cast<std::ptrdiff_t>(config.count("local_attention", 128) / 2);
  const std::size_t every = config.count("global_attn_every_n_layers", 3);
  const std::vector<std::string> types = config.words("layer_types");
  if (!types.empty() && types.size() != c.layers.size()) {
    config.differs("layer_types has " + std::to_string(types.size()) + " entries for " +
                   std::to_string(c.layers.size()) + " layers");
    return;
  }
  for (std::size_t i = 0; i < c.layers.size(); ++i) {
    const bool full = types.empty() ? i % every == 0 : types[i] == "full_attention";
    if (!types.empty() && !full && types[i] != "sliding_attention") {
      config.differs("layer_types has " + io::detail::printable(types[i]) +
                     ", full_attention or sliding_attention was expected");
    }
    c.layers[i].window = full ? -1 : window;
    c.layers[i].rotary = full ? 0 : 1;
  }
}

}  // namespace detail

/// Reads the settings of ModernBERT from `config`, with its array names. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_modernbert_settings(io::config_check& config,
                                                                  const io::archive& weights) {
  encoder_description d =
      described_encoder(config, weights, keys_with({.vocab = 50368, .hidden = 1152, .layers = 22}), 5);
  encoder_config& c = d.config;
  c.longest = config.count("max_position_embeddings", 8192);
  c.pad = whole_number(config, "pad_token_id", 50283);
  read_epsilon(config, "norm_eps", 1e-5, c);
  c.norm.bias = config.flag("norm_bias", false);
  c.norm_first = true;
  c.first_block_norm = false;
  c.attention_bias = config.flag("attention_bias", false);
  c.feed = {.activation = activation_of(config, "hidden_activation", "gelu"),
            .gated = true,
            .bias = config.flag("mlp_bias", false)};
  c.rotary.push_back(read_rotary(config, c.extents.of_head,
                                 {.base = 160000, .base_key = "global_rope_theta", .layers = "full_attention"}));
  // Null stands for the base of the other layers.
  const double local = config.is_null("local_rope_theta") ? config.number("global_rope_theta", 160000) : 10000;
  c.rotary.push_back(read_rotary(config, c.extents.of_head,
                                 {.base = local, .base_key = "local_rope_theta", .layers = "sliding_attention"}));
  detail::read_modernbert_layers(config, c);

  config.expect_word("classifier_pooling", {"cls", "mean"}, "cls");
  c.classifier = {.dense = true,
                  .dense_bias = config.flag("classifier_bias", false),
                  .activation = activation_of(config, "classifier_activation", "gelu"),
                  .norm = c.norm,
                  .pools_mean = config.word("classifier_pooling", "cls") == "mean"};
  c.token_classifier = c.predictor = c.classifier;
  c.predictor_bias = config.flag("decoder_bias", true);
  reject_other_encoders(config);

  encoder_names& n = d.names;
  n.prefix = "model.";
  n.tokens = "embeddings.tok_embeddings";
  n.embedding_norm = "embeddings.norm";
  n.blocks = numbered_blocks("layers.", c.extents.blocks);
  n.query_key_value = "attn.Wqkv";
  n.output = "attn.Wo";
  n.norm1 = "attn_norm";
  n.gate_up = "mlp.Wi";
  n.down = "mlp.Wo";
  n.norm2 = "mlp_norm";
  n.final_norm = "final_norm";
  n.classifier = n.token_classifier = {.dense = "head.dense", .norm = "head.norm", .output = "classifier"};
  n.predictor = {.dense = "head.dense", .norm = "head.norm", .output = "decoder", .output_bias = "decoder.bias"};
  n.unused = {"head.", "decoder.", "classifier."};
  return d;
}

/// ModernBERT for `read_encoder`: the value of `model_type` and the function that reads it.
inline const encoder_family modernbert_family{{"modernbert"}, read_modernbert_settings};

}  // namespace dimwise::models
