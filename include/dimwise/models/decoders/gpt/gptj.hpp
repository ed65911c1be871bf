// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/gpt/gptj.hpp -- GPT-J (Wang and Komatsuzaki 2021): its settings and array names.
//
// Layer: models. Attention and feed-forward in parallel after one norm; rotary positions turn neighbouring features.
// Tests: tests/models/decoders/further_decoders.test.cpp
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

namespace dimwise::models::architectures {

namespace detail {

// The first rotary_dim features of a head are turned, by angles of the base 10000. The class reads no other settings.
inline rotary_settings read_gptj_rotary(io::config_check& c, std::size_t features) {
  rotary_settings to;
  to.pairs = rotary_pairs::interleaved;
  const std::size_t turned = c.is_null("rotary_dim") ? 0 : c.count("rotary_dim", 64);
  if (turned == 0 || turned % 2 != 0 || turned > features) {
    c.differs("rotary_dim is " + (turned == 0 ? "null" : std::to_string(turned)) + ", an even number from 2 to the " +
              std::to_string(features) + " features of a head was expected");
    return to;
  }
  for (std::size_t i = 0; i < turned / 2; ++i) { to.angles.push_back(rotary_frequency(i, turned)); }
  return to;
}

}  // namespace detail

/// GPTJForCausalLM: the maps of the attention have no biases, those of the feed-forward layer and the output do.
[[nodiscard]] inline decoder_plan gptj(io::config_check& c) {
  decoder_plan plan;
  decoder_config& to = plan.config;
  to.vocab = c.count("vocab_size", 50400);
  to.d_model = c.count("n_embd", 4096);
  to.hidden = c.count("n_inner", 4 * to.d_model);
  to.longest = c.count("n_positions", 2048);
  read_layers(c, to, "n_layer", 28);
  const std::size_t heads = c.count("n_head", 16);
  read_heads(c, to, heads, heads, 0);
  to.norm = {.kind = norm_kind::layer,
             .epsilon = c.number("layer_norm_epsilon", 1e-5, io::number_range::from_zero),
             .bias = true};
  to.parallel = to.single_norm = true;
  to.feed = {.activation = activation_of(c, "activation_function", "gelu_new"), .gated = false, .bias = true};
  to.tied = c.flag("tie_word_embeddings", false);
  to.vocab_bias = true;
  to.rotary = {detail::read_gptj_rotary(c, to.d_k)};

  decoder_names& names = plan.names;
  names.prefix = "transformer.";
  names.tokens = "wte";
  names.layer = "h.";
  names.norm1 = "ln_1";
  names.query = "attn.q_proj";
  names.key = "attn.k_proj";
  names.value = "attn.v_proj";
  names.attention = "attn.out_proj";
  names.up = "mlp.fc_in";
  names.down = "mlp.fc_out";
  names.norm = "ln_f";
  names.ignored = {"attn.bias", "attn.masked_bias"};  // the causal mask in old files
  return plan;
}

/// The entry of `known_decoders`.
inline decoder_architectures gptj_list() { return {{"gptj", gptj, "GPT-J", "`rotary_dim` null"}}; }

}  // namespace dimwise::models::architectures
