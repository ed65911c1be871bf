// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder/keys.hpp -- reads the keys of config.json that encoder families share.
//
// Layer: models.
// Tests: tests/models/encoders/encoder.test.cpp
#pragma once

#include <dimwise/io/config.hpp>
#include <dimwise/models/common/whole_number.hpp>
#include <dimwise/models/encoder/names.hpp>
#include <dimwise/models/language_model.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace dimwise::models {

/// A key of config.json and the value of a class that lacks it.
struct count_key {
  const char* key;
  std::size_t otherwise;
};

/// The extents of a class whose config.json lacks them, and by default those of BERT.
struct encoder_defaults {
  std::size_t vocab = 30522;
  std::size_t features = 768;
  std::size_t heads = 12;
  std::size_t hidden = 3072;
  std::size_t layers = 12;
};

/// The keys of an encoder's extents.
struct encoder_keys {
  count_key vocab = {"vocab_size", 30522};
  count_key features = {"hidden_size", 768};
  count_key heads = {"num_attention_heads", 12};
  count_key hidden = {"intermediate_size", 3072};
  count_key layers = {"num_hidden_layers", 12};
  count_key head = {nullptr, 0};  ///< of the features of a head; without a key or a value, heads divide the features
};

/// BERT's keys with the defaults of another class.
[[nodiscard]] inline encoder_keys keys_with(const encoder_defaults& otherwise) {
  return {{"vocab_size", otherwise.vocab},
          {"hidden_size", otherwise.features},
          {"num_attention_heads", otherwise.heads},
          {"intermediate_size", otherwise.hidden},
          {"num_hidden_layers", otherwise.layers}};
}

/// `model_type`. Without it, a class XLMRoberta… in `architectures` stands for xlm-roberta: jina-embeddings-v3 has no
/// other name of its type.
[[nodiscard]] inline std::string model_type_of(io::config_check& config) {
  if (!config.has("model_type")) {
    const std::vector<std::string> classes = config.words("architectures");
    if (!classes.empty() && classes.front().starts_with("XLMRoberta")) { return "xlm-roberta"; }
  }
  return config.word("model_type");
}

/// Reads the names of the labels, words or numbers. Without `id2label` the labels are `num_labels` numbers, by default
/// 2.
inline void read_labels(io::config_check& config, encoder_config& to) {
  io::config_check names(config.object("id2label"), "id2label");
  const nlohmann::json& all = config.setting("id2label");
  const std::size_t most = all.is_object() ? std::max<std::size_t>(all.size(), 1) : 0;
  if (names.keys().empty()) {
    const std::size_t count = std::min<std::size_t>(config.count("num_labels", 2), 65536);
    for (std::size_t i = 0; i < count; ++i) { to.labels.push_back("LABEL_" + std::to_string(i)); }
  } else {
    for (std::size_t i = 0; i < most; ++i) {
      const std::string key = std::to_string(i);
      if (!names.has(key)) {
        config.differs("id2label has " + std::to_string(most) + " entries, but no name of label " + key);
      }
      const nlohmann::json& name = names.setting(key);
      to.labels.push_back(name.is_number() ? name.dump() : names.word(key, ""));
    }
  }
  config.differs_in(names);
  to.extents.labels = to.labels.size();
  const std::string problem = config.word("problem_type", "");
  to.labels_are_values = problem == "regression";
  to.labels_are_independent =
      !to.labels_are_values && (to.labels.size() == 1 || problem == "multi_label_classification");
}

/// A list of words. A setting that is one word has them between bars, in any case and with spaces around them.
[[nodiscard]] inline std::vector<std::string> words_between_bars(io::config_check& config, const std::string& key) {
  if (!config.setting(key).is_string()) { return config.words(key); }
  std::vector<std::string> words(1);
  for (const char x : config.word(key)) {
    if (x == '|') {
      words.emplace_back();
    } else if (x != ' ') {
      words.back() += x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x;
    }
  }
  return words;
}

/// Reads the extents by these keys; every layer has a block of its own. `arrays_of_block` is the least number of arrays
/// that a block has.
[[nodiscard]] inline encoder_description described_encoder(io::config_check& config, const io::archive& weights,
                                                           const encoder_keys& keys, std::size_t arrays_of_block) {
  encoder_description d;
  encoder_config& c = d.config;
  encoder_extents& e = c.extents;
  const auto count = [&](const count_key& k) { return config.count(k.key, k.otherwise); };
  c.model_type = model_type_of(config);
  e.vocab = count(keys.vocab);
  e.features = e.embedding = count(keys.features);
  e.heads = count(keys.heads);
  const bool of_head = keys.head.key != nullptr && (config.has(keys.head.key) || keys.head.otherwise > 0);
  e.of_head = of_head ? count(keys.head) : head_extent(config, e.features, e.heads);
  e.hidden = count(keys.hidden);
  e.blocks = layer_count(config, keys.layers.key, weights, arrays_of_block, keys.layers.otherwise);
  for (std::size_t i = 0; i < e.blocks; ++i) { c.layers.push_back({i, -1, 0}); }
  read_labels(config, c);
  return d;
}

/// Reads the epsilon of the norms.
inline void read_epsilon(io::config_check& config, const char* key, double otherwise, encoder_config& to) {
  to.norm.epsilon = config.number(key, otherwise, io::number_range::from_zero);
}

/// Rejects what no encoder here computes: decoders, cross-attention, other positions than those of the family, and
/// heads that were removed.
inline void reject_other_encoders(io::config_check& config, const char* positions = "absolute") {
  config.expect_flag("is_decoder", false, false);
  config.expect_flag("add_cross_attention", false, false);
  config.expect_word("position_embedding_type", {positions}, positions);
  if (!config.object("pruned_heads").empty()) { config.differs("pruned_heads is not supported"); }
  if (config.has("quantization_config")) { config.differs("quantization_config is not supported"); }
}

/// An output of masked tokens with its own weight is not read.
inline void expect_tied(io::config_check& config) { config.expect_flag("tie_word_embeddings", true, true); }

}  // namespace dimwise::models
