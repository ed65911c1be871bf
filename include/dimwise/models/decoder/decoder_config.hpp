// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoder/decoder_config.hpp -- the settings of a decoder: everything that does not change the type of a
// tensor.
//
// Layer: models.
// Tests: tests/models/decoders/decoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/models/common/feed_forward.hpp>
#include <dimwise/models/common/norm.hpp>
#include <dimwise/models/common/rotary.hpp>

#include <vector>

namespace dimwise::models {

/// Norms of queries and keys before the scores: none; over the features of a head with one scale for all heads; with a
/// scale of its own for each head, in one array or in an array for each head; or over all heads at once.
enum class head_norm_kind { none, shared, own, own_arrays, whole };

/// Where the norms of a layer are: before attention and feed-forward, on their outputs, on both sides, or on the sums
/// with the residual.
enum class norm_place { before, after, both, sum };

/// The settings of one layer.
struct decoder_layer_config {
  std::size_t window = 0;  ///< positions that a query sees, to each side if `bidirectional`, its own included; 0: all
  std::size_t rotary = 0;  ///< the index in `decoder_config::rotary`; beyond it: no rotary positions
  bool sparse = false;     ///< a mixture of experts instead of a feed-forward layer
  double score_scale = 1;  ///< of the scores, besides that of all layers
};
inline constexpr std::size_t no_rotary = static_cast<std::size_t>(-1);

/// Neighbouring layers of a decoder, from `begin` to before `end`, of `count`: all of them, or those of one rank of a
/// pipeline.
struct layer_run {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t count = 0;

  /// Whether no layer is before it.
  [[nodiscard]] bool is_first() const { return begin == 0; }
  /// Whether no layer is after it.
  [[nodiscard]] bool is_last() const { return end == count; }
};

/// The settings of a decoder.
struct decoder_config {
  // Extents.
  std::size_t vocab = 1;
  std::size_t d_model = 1;
  std::size_t d_embedding = 0;  ///< features of the token embedding; 0: as `d_model`
  std::size_t kv_heads = 1;
  std::size_t group = 1;         ///< query heads per key head
  std::size_t d_k = 1;           ///< features of a head
  std::size_t d_v = 0;           ///< of its values; 0: as `d_k`
  std::size_t latent = 0;        ///< of the latent vector of keys and values; 0: they are mapped from the features
  std::size_t query_latent = 0;  ///< of the latent vector of queries; 0: they are mapped from the features
  std::size_t d_rotated = 0;     ///< with latent vectors: features of a head that rotary positions turn
  std::size_t hidden = 1;
  std::size_t experts = 0;
  std::size_t expert_hidden = 1;
  std::size_t shared_hidden = 0;  ///< of an expert that all positions share; 0: there is none
  std::size_t longest = 0;        ///< positions in training
  std::vector<decoder_layer_config> layers{};

  /// The features of a head's values.
  [[nodiscard]] std::size_t value_features() const { return d_v == 0 ? d_k : d_v; }

  // Embeddings.
  std::size_t position_rows = 0;    ///< rows of learned positions; 0 without them
  std::size_t position_offset = 0;  ///< the row of position 0
  double embedding_scale = 1;
  norm_settings embedding_norm{.kind = norm_kind::none};

  // Layers.
  norm_settings norm{};
  norm_place place = norm_place::before;
  bool final_norm = true;
  bool parallel = false;     ///< x + attention(norm1(x)) + feed_forward(norm2(x))
  bool single_norm = false;  ///< in parallel: norm2 is norm1
  bool residual_from_norm = false;
  double residual_scale = 1;  ///< of both branches

  // Attention.
  bool bidirectional = false;  ///< queries also see the positions after their own
  bool input_bias = false;     ///< of queries, keys and values
  bool output_bias = false;
  double input_limit = 0;  ///< queries, keys and values are clamped to ± this; 0: they are not
  double score_scale = 0;  ///< 0: 1 / √d_k
  double score_cap = 0;    ///< 0: none
  bool sinks = false;      ///< a logit of each head, without a value, beside the scores of the keys
  bool alibi = false;
  double alibi_scale = 1;
  head_norm_kind head_norm = head_norm_kind::none;
  norm_settings head_norm_settings{};
  std::vector<rotary_settings> rotary{};

  // Feed-forward layers.
  feed_settings feed{};
  std::size_t chosen_experts = 1;
  bool renormalised = true;  ///< the weights of the chosen experts sum to 1
  double near_experts = 0;   ///< above 0: the weights are those of SparseMixer (`mixture_settings::near`)
  bool router_bias = false;
  bool shared_gate = true;          ///< the shared expert has a gate
  bool experts_by_sigmoid = false;  ///< weights by sigmoid, and a correction that only chooses
  std::size_t expert_groups = 1;
  std::size_t chosen_groups = 1;
  double expert_scale = 1;  ///< of the weights of the chosen experts

  // Output.
  bool has_output = true;  ///< false: a model of features alone, without logits
  bool tied = true;
  bool vocab_bias = false;
  double logit_scale = 1;
  double logit_cap = 0;  ///< 0: none
};

}  // namespace dimwise::models
