// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder_decoders/t5.hpp -- T5 (Raffel et al. 2020), T5 1.1, FLAN-T5, mT5 and UMT5 (Chung et al.
// 2023) as settings and array names.
//
// Layer: models. The decoder has tables of relative biases of its own, and none for attention to the source.
// Tests: the conformance suites `architectures`, cases t5-relu and t5-gated, and `encoder_decoders`, case umt5
#pragma once

#include <dimwise/models/encoder_decoder/settings.hpp>
#include <dimwise/models/encoders/t5.hpp>

#include <cmath>

namespace dimwise::models::architectures {

namespace detail {

inline encoder_decoder_description t5_like(io::config_check& c, const io::archive& weights,
                                           encoder_description described, bool tied) {
  encoder_decoder_description d{{std::move(described.config)}, {std::move(described.names)}};
  encoder_decoder_config& to = d.config;
  to.layers = layer_count(c, c.has("num_decoder_layers") ? "num_decoder_layers" : "num_layers", weights, 13,
                          to.encoder.extents.blocks);
  to.tied = c.flag("tie_word_embeddings", tied);
  // Tied logits are divided by √d_model. Newer configurations say so by a key of its own.
  if (c.flag("scale_decoder_outputs", to.tied)) {
    to.logit_scale = 1 / std::sqrt(static_cast<double>(to.encoder.extents.features));
  }
  read_given_tokens(c, to, to.encoder.pad, 1);

  encoder_decoder_names& n = d.names;
  n.encoder.prefix = "";
  n.encoder.unused = {};
  n.encoder.same_as_tokens.emplace_back("decoder.embed_tokens.weight");
  n.buckets = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias";
  n.blocks = numbered_blocks("decoder.block.", to.layers);
  n.norm1 = "layer.0.layer_norm";
  n.self = {"layer.0.SelfAttention.q", "layer.0.SelfAttention.k", "layer.0.SelfAttention.v", "layer.0.SelfAttention.o"};
  n.norm2 = "layer.1.layer_norm";
  n.cross = {"layer.1.EncDecAttention.q", "layer.1.EncDecAttention.k", "layer.1.EncDecAttention.v",
             "layer.1.EncDecAttention.o"};
  n.norm3 = "layer.2.layer_norm";
  n.gate = "layer.2.DenseReluDense.wi_0";
  n.up = to.encoder.feed.gated ? "layer.2.DenseReluDense.wi_1" : "layer.2.DenseReluDense.wi";
  n.down = "layer.2.DenseReluDense.wo";
  n.norm = "decoder.final_layer_norm";
  n.output = "lm_head";
  // In the first checkpoints; attention to the source has no bias.
  n.ignored = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"};
  return d;
}

}  // namespace detail

/// T5ForConditionalGeneration. FLAN-T5 and T5 1.1 have gates and an output of their own.
[[nodiscard]] inline encoder_decoder_description t5(io::config_check& c, const io::archive& weights) {
  return detail::t5_like(c, weights, read_t5_settings(c, weights), true);
}
/// MT5ForConditionalGeneration.
[[nodiscard]] inline encoder_decoder_description mt5(io::config_check& c, const io::archive& weights) {
  return detail::t5_like(c, weights, read_mt5_settings(c, weights), false);
}
/// UMT5ForConditionalGeneration. Every layer of both stacks has a table of relative biases.
[[nodiscard]] inline encoder_decoder_description umt5(io::config_check& c, const io::archive& weights) {
  encoder_decoder_description d = detail::t5_like(c, weights, read_umt5_settings(c, weights), true);
  d.names.buckets = "layer.0.SelfAttention.relative_attention_bias";
  return d;
}

}  // namespace dimwise::models::architectures
