// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder/settings.hpp -- the settings of an encoder that its types do not state: norms, positions,
// windows, activation, biases, shared layers, and heads.
//
// Layer: models. Settings change no dimension, so all encoders share one compiled formula.
// Tests: tests/models/encoders/encoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/models/common/feed_forward.hpp>
#include <dimwise/models/common/norm.hpp>
#include <dimwise/models/common/rotary.hpp>
#include <dimwise/models/common/sinusoids.hpp>
#include <dimwise/models/encoder/disentangled.hpp>

#include <optional>
#include <string>
#include <vector>

namespace dimwise::models {

/// The dimensions of an encoder with extents from the configuration. Your own struct may make some or all of them
/// static.
struct encoder_dims {
  struct vocab : choice_dim<> {};
  struct segments : choice_dim<> {};  // the texts of a pair
  struct labels : choice_dim<> {};    // of a classifier
  struct buckets : choice_dim<> {};   // of distances between positions
  struct batch : batch_dim<> {};
  struct seq : position_dim<> {};
  struct key : prime<seq> {};
  struct d_embed : feature_dim<> {};  // of the embedding tables
  struct d_model : feature_dim<> {};
  struct heads : heads_dim<> {};
  struct d_k : feature_dim<> {};
  struct pairs : feature_dim<> {};  // of a head that rotary positions turn
  struct d_v : feature_dim<> {};
  struct hidden : feature_dim<> {};
  struct taps : feature_dim<> {};      // the neighbours that a convolution reads
  struct channels : feature_dim<> {};  // their features
};

/// What an encoder computes besides the features of its tokens.
enum class encoder_task { features, text_labels, token_labels, masked_tokens };
/// The name of a task, as it is written in C++.
[[nodiscard]] constexpr const char* name_of(encoder_task task) {
  switch (task) {
    case encoder_task::features:
      return "encoder_task::features";
    case encoder_task::text_labels:
      return "encoder_task::text_labels";
    case encoder_task::token_labels:
      return "encoder_task::token_labels";
    case encoder_task::masked_tokens:
      return "encoder_task::masked_tokens";
  }
  return "";
}

/// The extents of an encoder. 0 segments, positions, buckets or taps: the encoder has no such table or convolution.
struct encoder_extents {
  std::size_t vocab = 1;
  std::size_t segments = 0;
  std::size_t labels = 1;
  std::size_t buckets = 0;    ///< of distances between positions
  std::size_t positions = 0;  ///< the rows of the table of positions
  std::size_t embedding = 1;  ///< the features of the embedding tables
  std::size_t features = 1;
  std::size_t heads = 1;
  std::size_t of_head = 1;  ///< the features of a head
  std::size_t hidden = 1;
  std::size_t blocks = 1;  ///< the blocks with parameters of their own
  std::size_t taps = 0;    ///< the neighbours that the convolution after the first layer reads
};

/// One of the layers that an encoder applies in turn.
struct encoder_layer_settings {
  std::size_t block = 0;       ///< the block whose parameters it has; layers may share one
  std::ptrdiff_t window = -1;  ///< visible positions to each side; all if negative
  std::size_t rotary = 0;      ///< the index of its rotary positions, if there are any
};

/// The layers on top of an encoder.
struct encoder_head_settings {
  bool dense = false;  ///< a map of the features and an activation before the last map
  bool dense_bias = true;
  activation_kind activation = activation_kind::tanh;
  std::optional<norm_settings> norm = {};  ///< after the activation
  bool pools_mean = false;  ///< text labels are computed from the mean over the tokens, not from the first
};

/// The settings of an encoder.
struct encoder_config {
  std::string model_type{};
  encoder_extents extents{};
  std::vector<encoder_layer_settings> layers{};
  std::vector<rotary_settings> rotary{};  ///< empty: queries and keys are not rotated
  norm_settings norm = {norm_kind::layer, 1e-12, true, true};
  bool embedding_norm = true;
  bool norm_first = false;       ///< norms before attention and feed-forward, and one after the last layer
  bool first_block_norm = true;  ///< whether the attention of the first block has a norm
  bool projects = false;         ///< a map from the features of the embedding tables to those of the layers
  bool attention_bias = true;
  double score_scale = 0;  ///< 0: 1 / √d_k
  feed_settings feed = {.activation = activation_kind::gelu, .gated = false, .bias = true};
  std::size_t pad = 0;                           ///< the id of the padding token
  bool positions_skip_padding = false;           ///< positions count the tokens that are not padding, from `pad` + 1
  std::size_t first_position = 0;                ///< the row of the first position, unless positions skip padding
  sinusoid_kind sinusoid = sinusoid_kind::none;  ///< positions are computed, and no table holds them
  double embedding_scale = 1;                    ///< the factor of the token embedding
  bool distances_of_blocks = false;              ///< every block has a table of relative biases of its own
  std::ptrdiff_t bucket_distance = 128;
  disentangled_settings disentangled = {};              ///< if any, the buckets have features instead of biases
  activation_kind convolution = activation_kind::tanh;  ///< after the convolution
  std::size_t longest = 0;                              ///< the maximum number of tokens of a text
  encoder_head_settings classifier = {};
  encoder_head_settings token_classifier = {};
  encoder_head_settings predictor = {};  ///< of masked tokens
  bool predictor_bias = true;
  std::vector<std::string> labels{};    ///< the names of the labels
  bool labels_are_independent = false;  ///< several labels may hold: each has a probability of its own
  bool labels_are_values = false;       ///< regression: the scores of texts are numbers, without probabilities
};

}  // namespace dimwise::models
