// tests/models/encoders/float64.hpp -- encoders of a suite against their features and scores in float64.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "models/support.hpp"
#include <dimwise/models/encoders.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace dimwise_test {

/// A folder whose config.json can be changed.
struct encoder_folder : model_folder {
  using model_folder::model_folder;
  /// Sets a key of config.json.
  void set(const std::string& key, const nlohmann::json& value) const {
    nlohmann::json config = dimwise::io::read_json(path() / "config.json");
    config[key] = value;
    write("config.json", config.dump());
  }
  /// The first mismatch that reading the settings throws.
  [[nodiscard]] std::string told() const {
    const std::string said = message([&] { (void)read(); });
    const std::size_t at = said.find(":\n  ");
    return at == std::string::npos ? said : said.substr(at + 4);
  }
  template <class Model = dimwise::models::encoder<>>
  [[nodiscard]] Model read(const std::string& adapter = "") const {
    const dimwise::io::config_check config(*this / "config.json");
    return dimwise::models::read_encoder<typename Model::dims, typename Model::weights>(
        path(), dimwise::models::encoder_task_of(config), adapter);
  }
};

/// The largest difference of features and scores from those in float64, of the texts from `first` on in one batch.
template <class Model>
double error_of(const Model& m, const encoder_folder& files, std::size_t first = 0, std::size_t end = 3) {
  using task = dimwise::models::encoder_task;
  std::vector<std::vector<typename Model::token>> texts;
  std::vector<std::vector<dimwise::id<typename Model::segments>>> parts;
  for (std::size_t k = first; k < end; ++k) {
    const std::string name = "text." + std::to_string(k) + ".";
    texts.push_back(files.ids<typename Model::token>(name + "input_ids"));
    parts.push_back(files.ids<dimwise::id<typename Model::segments>>(name + "token_type_ids"));
  }
  const bool of_pairs = m.config.extents.segments > 1;
  const auto batch = m.together(texts, of_pairs ? parts : decltype(parts)());
  const auto x = m.features(batch);
  double most = 0;
  const auto compare = [&](std::size_t text, const std::string& array, std::span<const float> row) {
    const auto expected = files.numbers("text." + std::to_string(text) + "." + array);
    REQUIRE(row.size() >= expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double error = std::abs(static_cast<double>(row[i]) - expected[i]);
      REQUIRE(std::isfinite(error));
      most = std::max(most, error);
    }
  };
  const auto compare_all = [&](const std::string& array, const auto& all) {
    const std::size_t row = all.size() / texts.size();
    for (std::size_t k = first; k < end; ++k) { compare(k, array, all.values().subspan((k - first) * row, row)); }
  };
  compare_all("last_hidden_f64", x);
  if (m.task == task::text_labels) { compare_all("scores_f64", m.scores(x, batch.lengths)); }
  if (m.task == task::token_labels) { compare_all("scores_f64", m.token_scores(x)); }
  if (m.task == task::masked_tokens) { compare_all("scores_f64", m.logits(x)); }
  return most;
}

/// Weights of low precision: near float64, and stored in low precision, so they differ. bfloat16 has 8 bits of
/// precision, blocks of 8 bits have steps of 1/254 of their largest number.
inline void check_low_precision(const encoder_folder& files, const std::string& adapter = "") {
  using dims = dimwise::models::encoder_dims;
  const double of_bfloat16 = error_of(files.read<dimwise::models::encoder<dims, dimwise::bfloat16>>(adapter), files);
  CHECK(of_bfloat16 < 0.5);
  CHECK(of_bfloat16 > 1e-4);
  const double of_int8 = error_of(files.read<dimwise::models::encoder<dims, dimwise::nn::int8_blocks>>(adapter), files);
  CHECK(of_int8 < 0.5);
  CHECK(of_int8 > 1e-4);
}

}  // namespace dimwise_test
