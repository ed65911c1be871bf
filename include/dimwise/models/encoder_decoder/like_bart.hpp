// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder_decoder/like_bart.hpp -- the settings and array names that BART and its descendants share.
//
// Layer: models.
// Tests: the conformance suite `encoder_decoders`, cases bart, mbart, marian, pegasus and m2m_100
#pragma once

#include <dimwise/models/encoder/keys.hpp>
#include <dimwise/models/encoder_decoder/settings.hpp>

#include <cmath>

namespace dimwise::models::architectures {

namespace detail {

inline void name_like_bart(encoder_decoder_names& n, const io::archive& weights, std::size_t blocks,
                           std::size_t layers) {
  encoder_names& e = n.encoder;
  e.prefix = "model.";
  // A file may hold any of the copies.
  const std::vector<std::string> copies{"shared", "encoder.embed_tokens", "decoder.embed_tokens"};
  e.tokens = copies.front();
  for (auto name = copies.rbegin(); name != copies.rend(); ++name) {
    for (const char* prefix : {"", "model."}) {
      if (weights.find(prefix + *name + ".weight") != nullptr) { e.tokens = *name; }
    }
  }
  for (const std::string& name : copies) { e.same_as_tokens.push_back(name + ".weight"); }
  e.positions = "encoder.embed_positions";
  e.embedding_norm = "encoder.layernorm_embedding";
  e.blocks = numbered_blocks("encoder.layers.", blocks);
  e.query = "self_attn.q_proj";
  e.key = "self_attn.k_proj";
  e.value = "self_attn.v_proj";
  e.output = "self_attn.out_proj";
  e.norm1 = "self_attn_layer_norm";
  e.up = "fc1";
  e.down = "fc2";
  e.norm2 = "final_layer_norm";
  e.final_norm = "encoder.layer_norm";
  n.positions = "decoder.embed_positions";
  n.embedding_norm = "decoder.layernorm_embedding";
  n.blocks = numbered_blocks("decoder.layers.", layers);
  n.norm1 = e.norm1;
  n.self = {e.query, e.key, e.value, e.output};
  n.norm2 = "encoder_attn_layer_norm";
  n.cross = {"encoder_attn.q_proj", "encoder_attn.k_proj", "encoder_attn.v_proj", "encoder_attn.out_proj"};
  n.norm3 = e.norm2;
  n.up = e.up;
  n.down = e.down;
  n.norm = "decoder.layer_norm";
  n.output = "lm_head";
  n.logit_bias = "final_logits_bias";
  n.ignored = {"encoder.version", "decoder.version"};
}

}  // namespace detail

/// The values of a class that config.json lacks.
struct bart_defaults {
  encoder_keys keys{};
  std::size_t positions = 1024;
  const char* activation = "gelu";
  std::size_t pad = 1;
  std::size_t start = 2;
  std::size_t end = 2;
  bool scaled = false;  ///< the embedding, by √d_model
};

/// The settings and names that BART and its descendants share; positions and norms differ. Records mismatches in `c`.
[[nodiscard]] inline encoder_decoder_description described_like_bart(io::config_check& c, const io::archive& weights,
                                                                     const bart_defaults& otherwise) {
  encoder_description described = described_encoder(c, weights, otherwise.keys, 16);
  encoder_decoder_description d{{std::move(described.config)}, {std::move(described.names)}};
  encoder_config& e = d.config.encoder;
  const std::size_t vocab = e.extents.vocab;
  e.longest = c.count("max_position_embeddings", otherwise.positions);
  e.norm = {norm_kind::layer, 1e-5, true, true};
  e.feed = {activation_of(c, "activation_function", otherwise.activation), false, true};
  e.pad = whole_number(c, "pad_token_id", otherwise.pad);
  if (c.flag("scale_embedding", otherwise.scaled)) {
    e.embedding_scale = std::sqrt(static_cast<double>(e.extents.features));
  }
  for (const auto& [decoder, count] :
       {std::pair("decoder_attention_heads", e.extents.heads), std::pair("decoder_ffn_dim", e.extents.hidden),
        std::pair("decoder_vocab_size", vocab)}) {
    if (const std::size_t found = c.count(decoder, count); found != count) {
      c.differs(std::string(decoder) + " is " + std::to_string(found) + ", the encoder has " + std::to_string(count) +
                ": other extents in the decoder are not supported");
    }
  }
  c.expect_flag("share_encoder_decoder_embeddings", true, true);
  reject_other_encoders(c);
  d.config.layers = layer_count(c, "decoder_layers", weights, 26, otherwise.keys.layers.otherwise);
  d.config.tied = c.flag("tie_word_embeddings", true);
  read_given_tokens(c, d.config, otherwise.start, otherwise.end);
  d.config.logit_bias = weights.find("final_logits_bias") != nullptr;
  detail::name_like_bart(d.names, weights, e.extents.blocks, d.config.layers);
  return d;
}
/// A table of positions whose first two rows are unused.
inline void set_learned_positions(encoder_config& c) {
  c.first_position = 2;
  c.extents.positions = c.longest + 2;
}
/// Sinusoidal positions. Files may store their table, which is ignored.
inline void set_sinusoids(io::config_check& c, sinusoid_kind kind, encoder_decoder_description& d) {
  d.config.encoder.sinusoid = kind;
  for (const char* stack : {"encoder", "decoder"}) {
    for (const char* end : {".embed_positions.weight", ".embed_positions.weights"}) {
      d.names.ignored.push_back(std::string(stack) + end);
    }
  }
  if (d.config.encoder.extents.features % 2 != 0) {
    c.differs("d_model is " + std::to_string(d.config.encoder.extents.features) +
              ": sines and cosines need an even number of features");
  }
}

}  // namespace dimwise::models::architectures
