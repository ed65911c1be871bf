// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder/names.hpp -- the array names of an encoder family, as data.
//
// Layer: models. An architecture is its settings and these names; `bind_encoder` turns them into bindings.
// Tests: the conformance suite `architectures`
#pragma once

#include <dimwise/io/archive.hpp>
#include <dimwise/models/encoder/settings.hpp>

#include <string>
#include <vector>

namespace dimwise::models {

/// The names of a head's arrays, without ".weight" and ".bias". Heads lie outside the prefix of the model, except for
/// maps that the base model has.
struct encoder_head_names {
  std::string dense{};
  bool dense_in_model = false;  ///< the dense map is a part of the base model: BERT's pooler
  std::string norm{};
  std::string output{};
  std::string output_bias{};  ///< of masked tokens: the whole name of the bias
};

/// BERT's names of the output of masked tokens.
[[nodiscard]] inline encoder_head_names names_of_predictions(const std::string& norm = "LayerNorm") {
  return {.dense = "cls.predictions.transform.dense",
          .norm = "cls.predictions.transform." + norm,
          .output = "cls.predictions.decoder",
          .output_bias = "cls.predictions.bias"};
}

/// The names of the arrays of an encoder, without ".weight" and ".bias". An empty name is a part that the family lacks.
struct encoder_names {
  std::string prefix{};  ///< optional in files
  std::string tokens = "embeddings.word_embeddings";
  std::string positions = "embeddings.position_embeddings";
  std::string segments = "embeddings.token_type_embeddings";
  std::string embedding_norm = "embeddings.LayerNorm";
  std::string projection{};
  std::string buckets{};              ///< follows the beginnings of blocks if every block has a table of its own
  std::vector<std::string> blocks{};  ///< the beginnings of the blocks' names
  std::string distance_features{};
  std::string distance_norm{};
  std::string convolution{};
  std::string convolution_norm{};
  std::string query = "attention.self.query";
  std::string key = "attention.self.key";
  std::string value = "attention.self.value";
  std::string distance_query{};
  std::string distance_key{};
  std::string query_key_value{};  ///< one array, in thirds, instead of the three
  std::string output = "attention.output.dense";
  std::string norm1 = "attention.output.LayerNorm";
  std::string gate{};
  std::string up = "intermediate.dense";
  std::string gate_up{};  ///< one array instead of the two, the gate first
  bool up_first = false;  ///< the other way round
  std::string down = "output.dense";
  std::string norm2 = "output.LayerNorm";
  std::string final_norm{};
  encoder_head_names classifier{};
  encoder_head_names token_classifier{};
  encoder_head_names predictor{};
  std::vector<std::string> same_as_tokens{};  ///< copies of the token embedding, which a file may have: whole names
  std::vector<std::string> unused{};          ///< arrays that begin with these names do not belong to the encoder
};

/// The blocks "first0.", "first1.", ….
[[nodiscard]] inline std::vector<std::string> numbered_blocks(const std::string& first, std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) { all.push_back(first + std::to_string(i) + "."); }
  return all;
}

/// Adapters of low rank that a checkpoint holds beside its weights, each for texts of one task.
struct encoder_adapters {
  std::vector<std::string> names{};  ///< in the order of the arrays; empty: none
  std::size_t rank = 1;
  double scale = 1;  ///< of the product that is added to a weight
};

/// The settings of a checkpoint, and the names of its arrays.
struct encoder_description {
  encoder_config config{};
  encoder_names names{};
  encoder_adapters adapters{};
  std::string other_predictor{};  ///< why the output of masked tokens is not read; empty if it is
};

/// A family of encoders: its names in `model_type`, and what reads a configuration. `read` records what it rejects in
/// the configuration; the archive distinguishes checkpoints whose arrays have other names.
struct encoder_family {
  std::vector<std::string> model_types{};
  encoder_description (*read)(io::config_check& config, const io::archive& weights);
};

}  // namespace dimwise::models
