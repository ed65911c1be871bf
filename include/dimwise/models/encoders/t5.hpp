// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoders/t5.hpp -- the encoder of T5 (Raffel et al. 2020), T5 1.1, FLAN-T5, mT5 and UMT5 as settings
// and array names.
//
// Layer: models. RMS norms before the branches, no biases, scores that are not scaled, and one table of relative biases
// for all layers or for each.
// Tests: the conformance suites `architectures`, cases t5-relu and t5-gated, and `encoder_decoders`, case umt5
#pragma once

#include <dimwise/models/encoder/keys.hpp>

namespace dimwise::models {

namespace detail {

// `feed_forward_proj` names an activation, or "gated-" and an activation; "gated-gelu" is its tanh form. The keys
// `dense_act_fn` and `is_gated_act` say the same and come first.
inline feed_settings read_t5_feed(io::config_check& config, const std::string& otherwise) {
  const std::string kind = config.word("feed_forward_proj", otherwise);
  const bool gated = kind.starts_with("gated-");
  const std::string name = gated ? kind.substr(6) : kind;
  return {activation_of(config, "dense_act_fn", gated && name == "gelu" ? "gelu_new" : name),
          config.flag("is_gated_act", gated), false};
}
inline encoder_description described_t5(io::config_check& config, const io::archive& weights, const encoder_keys& keys,
                                        const std::string& feed) {
  encoder_description d = described_encoder(config, weights, keys, 8);
  encoder_config& c = d.config;
  c.longest = 2147483647;  // distances have no limit
  c.pad = whole_number(config, "pad_token_id", 0);
  c.norm = {norm_kind::rms, 1e-6, true, false};
  read_epsilon(config, "layer_norm_epsilon", 1e-6, c);
  c.embedding_norm = false;
  c.norm_first = true;
  c.attention_bias = false;
  c.score_scale = 1;
  c.feed = read_t5_feed(config, feed);
  c.extents.buckets = config.count("relative_attention_num_buckets", 32);
  c.bucket_distance = static_cast<std::ptrdiff_t>(config.count("relative_attention_max_distance", 128));
  reject_other_encoders(config);

  encoder_names& n = d.names;
  n.prefix = "transformer.";
  n.tokens = "shared";
  n.buckets = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias";
  n.blocks = numbered_blocks("encoder.block.", c.extents.blocks);
  n.query = "layer.0.SelfAttention.q";
  n.key = "layer.0.SelfAttention.k";
  n.value = "layer.0.SelfAttention.v";
  n.output = "layer.0.SelfAttention.o";
  n.norm1 = "layer.0.layer_norm";
  n.gate = "layer.1.DenseReluDense.wi_0";
  n.up = c.feed.gated ? "layer.1.DenseReluDense.wi_1" : "layer.1.DenseReluDense.wi";
  n.down = "layer.1.DenseReluDense.wo";
  n.norm2 = "layer.1.layer_norm";
  n.final_norm = "encoder.final_layer_norm";
  n.classifier = n.token_classifier = {"", false, "", "classifier", ""};
  n.same_as_tokens = {"encoder.embed_tokens.weight"};
  n.unused = {"decoder.", "lm_head.", "classifier.", "classification_head."};
  return d;
}

}  // namespace detail

/// The settings and array names of T5's encoder, read from its config.json. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_t5_settings(io::config_check& config, const io::archive& weights) {
  const encoder_keys keys{{"vocab_size", 32128}, {"d_model", 512},  {"num_heads", 8},
                          {"d_ff", 2048},        {"num_layers", 6}, {"d_kv", 64}};
  return detail::described_t5(config, weights, keys, "relu");
}
/// The settings and array names of mT5's encoder, read from its config.json. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_mt5_settings(io::config_check& config, const io::archive& weights) {
  const encoder_keys keys{{"vocab_size", 250112}, {"d_model", 512},  {"num_heads", 6},
                          {"d_ff", 1024},         {"num_layers", 8}, {"d_kv", 64}};
  return detail::described_t5(config, weights, keys, "gated-gelu");
}
/// The settings and array names of UMT5's encoder (Chung et al. 2023), in which every layer has a table of relative
/// biases. Records mismatches in `config`.
[[nodiscard]] inline encoder_description read_umt5_settings(io::config_check& config, const io::archive& weights) {
  encoder_description d = read_mt5_settings(config, weights);
  d.config.distances_of_blocks = true;
  d.names.buckets = "layer.0.SelfAttention.relative_attention_bias";
  return d;
}

/// The encoders of T5, mT5 and UMT5 in the list of `read_encoder`.
inline const encoder_family t5_family{{"t5"}, read_t5_settings};
inline const encoder_family mt5_family{{"mt5"}, read_mt5_settings};
inline const encoder_family umt5_family{{"umt5"}, read_umt5_settings};

}  // namespace dimwise::models
