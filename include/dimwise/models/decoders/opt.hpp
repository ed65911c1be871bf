// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/opt.hpp -- OPT (Zhang et al. 2022): its settings and array names.
//
// Layer: models. Learned positions; norms before the branches, or after the sums.
// Tests: the conformance suite `architectures`, case opt
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

namespace dimwise::models::architectures {

/// OPTForCausalLM: learned positions from row 2 on; with do_layer_norm_before false the norms follow the sums,
/// without a final norm; token embeddings with other features than the layers are projected.
[[nodiscard]] inline decoder_plan opt(io::config_check& c) {
  decoder_plan plan;
  decoder_config& to = plan.config;
  to.vocab = c.count("vocab_size");
  to.d_model = c.count("hidden_size");
  to.d_embedding = c.count("word_embed_proj_dim", to.d_model);
  to.hidden = c.count("ffn_dim");
  to.longest = c.count("max_position_embeddings", 2048);
  to.position_offset = 2;
  to.position_rows = to.longest + to.position_offset;
  read_layers(c, to, "num_hidden_layers");
  const std::size_t heads = c.count("num_attention_heads");
  read_heads(c, to, heads, heads, 0);
  const bool scaled = c.flag("layer_norm_elementwise_affine", true);
  to.norm = {.kind = norm_kind::layer, .epsilon = 1e-5, .scale = scaled, .bias = scaled};
  const bool before = c.flag("do_layer_norm_before", true);
  to.place = before ? norm_place::before : norm_place::sum;
  to.final_norm = before && !c.flag("_remove_final_layer_norm", false);
  const bool bias = c.flag("enable_bias", true);
  to.input_bias = to.output_bias = bias;
  to.feed = {.activation = activation_of(c, "activation_function", "relu"), .gated = false, .bias = bias};
  to.tied = c.flag("tie_word_embeddings", true);

  decoder_names& names = plan.names;
  names.tokens = "decoder.embed_tokens";
  names.project_in = "decoder.project_in";
  names.positions = "decoder.embed_positions";
  names.layer = "decoder.layers.";
  names.norm1 = "self_attn_layer_norm";
  names.attention = "self_attn.out_proj";
  names.norm2 = "final_layer_norm";
  names.up = "fc1";
  names.down = "fc2";
  names.norm = "decoder.final_layer_norm";
  names.project_out = "decoder.project_out";
  names.ignored.clear();
  return plan;
}

/// The entry of `known_decoders`.
inline decoder_architectures opt_list() { return {{"opt", opt, "OPT", ""}}; }

}  // namespace dimwise::models::architectures
