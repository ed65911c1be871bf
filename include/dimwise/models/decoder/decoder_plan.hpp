// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoder/decoder_plan.hpp -- what an architecture makes of config.json: the settings of a decoder, and
// the names and conventions of its arrays.
//
// Layer: models.
// Tests: tests/models/decoders/decoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/models/common/whole_number.hpp>
#include <dimwise/models/decoder/decoder_config.hpp>
#include <dimwise/models/language_model.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace dimwise::models {

/// How queries, keys and values are stored: in an array each; in one array, all queries, all keys, all values; or in
/// one array by key heads, each with its queries, its key and its value.
enum class qkv_order { separate, stacked, by_groups };

/// An array that holds a parameter of all experts, in turn: its name in a layer, and the name of the parameter in an
/// expert. An array that ends in "_blocks" has MXFP4, and its scales are in the array that ends in "_scales".
struct expert_stack {
  std::string from{};
  std::string to{};
};

/// The names of a decoder's arrays, without ".weight" and ".bias", and the conventions of these arrays. The defaults
/// are those of LLaMA. Empty names stand for parameters that the architecture lacks.
struct decoder_names {
  std::string prefix = "model.";              ///< an optional prefix of all names but that of the output
  std::vector<std::string> other_prefixes{};  ///< prefixes that files of other versions have instead
  std::string tokens = "embed_tokens";
  std::string project_in{};
  std::string positions{};
  std::string embedding_norm{};
  std::string layer = "layers.";  ///< followed by the number of the layer
  std::string norm1 = "input_layernorm";
  std::string query = "self_attn.q_proj";
  std::string key = "self_attn.k_proj";
  std::string value = "self_attn.v_proj";
  // Latent vectors of queries, and of keys and values.
  std::string query_down = "self_attn.q_a_proj";
  std::string query_latent_norm = "self_attn.q_a_layernorm";
  std::string query_up = "self_attn.q_b_proj";
  std::string compress = "self_attn.kv_a_proj_with_mqa";
  std::string latent_norm = "self_attn.kv_a_layernorm";
  std::string expand = "self_attn.kv_b_proj";
  std::string qkv{};  ///< queries, keys and values in one array
  std::string query_norm = "self_attn.q_norm";
  std::string key_norm = "self_attn.k_norm";
  std::string attention = "self_attn.o_proj";
  std::string output_norm1{};
  std::string norm2 = "post_attention_layernorm";
  std::string gate = "mlp.gate_proj";
  std::string up = "mlp.up_proj";
  std::string gate_up{};  ///< gate and up in one array
  std::string down = "mlp.down_proj";
  std::string output_norm2{};
  std::string sinks = "self_attn.sinks";
  std::string router = "mlp.gate";
  std::string correction = "mlp.gate.e_score_correction_bias";  ///< of the choice of experts
  std::string experts = "mlp.experts.";                         ///< followed by the number of the expert
  std::string expert_gate = "gate_proj";
  std::string expert_up = "up_proj";
  std::string expert_down = "down_proj";
  std::string expert_gate_up{};                      ///< gate and up of an expert in one array
  std::vector<expert_stack> stacked_experts{};       ///< the arrays that hold all experts
  std::string shared_expert = "mlp.shared_expert.";  ///< followed by the names of an expert's maps
  std::string shared_gate = "mlp.shared_expert_gate";
  std::string norm = "norm";
  std::string project_out{};
  std::string output = "lm_head";
  std::string other_output{};              ///< another name of the output
  std::vector<std::string> other_parts{};  ///< beginnings of the names of arrays that other models in the file have
  std::vector<std::string> ignored{"self_attn.rotary_emb.inv_freq"};  ///< arrays of a layer that are not parameters

  qkv_order order = qkv_order::separate;
  bool in_out = false;              ///< matrices are [inputs, outputs]: Conv1D of GPT-2
  bool expert_in_out = false;       ///< the same of experts alone
  bool expert_interleaved = false;  ///< gate and up of an expert are interleaved: gpt-oss
  bool less_one = false;            ///< scales of norms are stored minus one: Gemma
};

/// The settings and names of one checkpoint.
struct decoder_plan {
  decoder_config config{};
  decoder_names names{};
  bool reads_quantised = false;            ///< quantization_config was read
  std::vector<std::size_t> scale_block{};  ///< of weights of 8 bits: the rows and columns that share a scale
};

/// An architecture: its model_type in config.json, what it makes of the settings, what it is called, and what of it is
/// not read. `read` records mismatches in the settings, which `read_decoder` throws.
struct decoder_architecture {
  std::string model_type;
  decoder_plan (*read)(io::config_check& settings);
  std::string title{};
  std::string rejected{};
};
using decoder_architectures = std::vector<decoder_architecture>;

/// The number of a setting; `otherwise` if it is absent, and 0 if it is null.
[[nodiscard]] inline double number_or_none(io::config_check& c, const std::string& key, double otherwise) {
  return c.is_null(key) ? 0 : c.number(key, otherwise, io::number_range::from_zero);
}

/// Keys and defaults that architectures with LLaMA's names for extents do not share.
struct usual_keys {
  std::size_t kv_heads = 0;  ///< if num_key_value_heads is absent; 0: as many as queries
  std::size_t head_dim = 0;  ///< if head_dim is absent; 0: hidden_size / num_attention_heads
  bool divided = true;  ///< false: other settings have the features of a head, and heads need not divide the features
  std::string activation = "hidden_act";
  std::string default_activation = "silu";
  std::string epsilon = "rms_norm_eps";
  double default_epsilon = 1e-6;
  norm_settings norm{};
  bool tied = false;           ///< if tie_word_embeddings is absent
  std::size_t longest = 2048;  ///< if max_position_embeddings is absent
};

/// Heads of queries and keys. Null counts as absent.
inline void read_heads(io::config_check& c, decoder_config& to, std::size_t queries, std::size_t kv_heads,
                       std::size_t head_dim) {
  to.kv_heads = std::max<std::size_t>(kv_heads, 1);
  to.group = std::max<std::size_t>(queries / to.kv_heads, 1);
  if (queries % to.kv_heads != 0) {
    c.differs(std::to_string(queries) + " query heads are not divisible by " + std::to_string(to.kv_heads) +
              " key heads");
  }
  to.d_k = head_dim == 0 ? head_extent(c, to.d_model, queries) : head_dim;
}
/// The layers, all alike.
inline void read_layers(io::config_check& c, decoder_config& to, const std::string& key,
                        std::optional<std::size_t> otherwise = {}) {
  constexpr std::size_t most = 4096;
  const std::size_t n = c.count(key, otherwise);
  if (n > most) { c.differs(key + " is " + std::to_string(n) + ", at most " + std::to_string(most) + " are read"); }
  to.layers.assign(std::min(n, most), decoder_layer_config{});
}
/// The settings that most architectures share: extents, heads, layers, norm, activation, and whether the output is
/// tied. Reads neither biases nor rotary positions.
[[nodiscard]] inline decoder_plan read_usual(io::config_check& c, const usual_keys& keys = {}) {
  decoder_plan plan;
  decoder_config& to = plan.config;
  to.vocab = c.count("vocab_size");
  to.d_model = c.count("hidden_size");
  to.hidden = c.count("intermediate_size");
  to.longest = c.count("max_position_embeddings", keys.longest);
  const std::size_t queries = c.count("num_attention_heads");
  const bool none = c.is_null("num_key_value_heads") || keys.kv_heads == 0;
  const std::size_t of_head = c.has("head_dim") ? c.count("head_dim") : (c.is_null("head_dim") ? 0 : keys.head_dim);
  read_heads(c, to, queries, c.count("num_key_value_heads", none ? queries : keys.kv_heads),
             of_head == 0 && !keys.divided ? 1 : of_head);
  read_layers(c, to, "num_hidden_layers");
  to.norm = keys.norm;
  to.norm.epsilon = c.number(keys.epsilon, keys.default_epsilon, io::number_range::from_zero);
  to.head_norm_settings = to.norm;
  to.feed.activation = activation_of(c, keys.activation, keys.default_activation);
  to.tied = c.flag("tie_word_embeddings", keys.tied);
  return plan;
}
/// The biases of all maps of the attention and of the feed-forward layers.
inline void read_biases(io::config_check& c, decoder_config& to, const std::string& attention = "attention_bias",
                        const std::string& feed = "mlp_bias") {
  to.input_bias = to.output_bias = c.flag(attention, false);
  to.feed.bias = c.flag(feed, false);
}
/// One set of rotary positions for all layers.
inline void read_rotary_of_all(io::config_check& c, decoder_config& to, rotary_keys keys = {}) {
  keys.longest = to.longest;
  to.rotary = {read_rotary(c, to.d_k, keys)};
}

/// The key of the number of experts, and defaults of their settings.
struct expert_keys {
  std::string key = "num_local_experts";
  std::size_t experts = 8;
  std::size_t chosen = 2;
  std::size_t hidden = 0;  ///< if moe_intermediate_size is absent; 0: experts have `intermediate_size`
};
/// The number and the extents of experts, which the layers from `first` on have.
inline void read_experts(io::config_check& c, decoder_config& to, const expert_keys& keys = {}, std::size_t first = 0) {
  to.experts = c.count(keys.key, keys.experts);
  to.chosen_experts = c.count("num_experts_per_tok", keys.chosen);
  to.expert_hidden = keys.hidden == 0 ? to.hidden : c.count("moe_intermediate_size", keys.hidden);
  for (std::size_t i = first; i < to.layers.size(); ++i) { to.layers[i].sparse = true; }
}

/// Whether layer i sees a window, by `layer_types`; without them by `otherwise(i)`. Rejects other types of layers.
template <class Otherwise>
[[nodiscard]] std::vector<bool> read_layer_types(io::config_check& c, std::size_t layers, const Otherwise& otherwise) {
  std::vector<bool> windowed(layers);
  const std::vector<std::string> types = c.words("layer_types");
  if (!types.empty() && types.size() != layers) {
    c.differs("layer_types has " + std::to_string(types.size()) + " entries, " + std::to_string(layers) +
              " were expected: one for each layer");
  }
  for (std::size_t i = 0; i < layers; ++i) {
    if (types.size() != layers) {
      windowed[i] = otherwise(i);
    } else if (types[i] == "sliding_attention") {
      windowed[i] = true;
    } else if (types[i] != "full_attention") {
      c.differs("layer_types has " + io::detail::printable(types[i]) +
                "; the types that are read are full_attention and sliding_attention");
    }
  }
  return windowed;
}
/// Whether the checkpoint has an output: Qwen2Model with untied embeddings has features alone.
inline void read_output(io::config_check& c, decoder_config& to) {
  const std::vector<std::string> classes = c.words("architectures");
  to.has_output =
      to.tied || classes.empty() || !classes.front().ends_with("Model") || classes.front().ends_with("HeadModel");
}
/// Makes attention bidirectional if `is_causal` is false. A window then has `sliding_window` positions to each side of
/// the query's own.
inline void read_direction(io::config_check& c, decoder_config& to) {
  if (!to.bidirectional) { c.expect_flag("use_bidirectional_attention", false, false); }
  if (c.flag("is_causal", true)) { return; }
  to.bidirectional = true;
  for (auto& layer : to.layers) { layer.window += layer.window > 0 ? 1 : 0; }
}
/// The window of all layers, which `sliding_window` sets.
inline void read_window_of_all(io::config_check& c, decoder_config& to, std::size_t otherwise = 0) {
  const std::size_t window = whole_number(c, "sliding_window", otherwise, null_setting::is_zero);
  for (auto& layer : to.layers) { layer.window = window; }
}

}  // namespace dimwise::models
