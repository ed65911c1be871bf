// tests/models/encoders/deberta.test.cpp -- DeBERTa 2 and 3: features and scores against float64, each convention that
// changes them, and settings that are not read.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/inspect.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace dimwise;
using dimwise_test::message;

namespace {

constexpr const char* cases[] = {"deberta-v3",          "deberta-v2-own-maps",    "deberta-v2-masked",
                                 "deberta-v2-absolute", "deberta-v2-convolution", "deberta-v2-wide-convolution"};

struct deberta_folder : dimwise_test::model_folder {
  explicit deberta_folder(const std::string& name) : model_folder(name, "deberta.dwpack") {}
  // Sets a key of config.json.
  void set(const std::string& key, const nlohmann::json& value) const {
    nlohmann::json config = io::read_json(path() / "config.json");
    config[key] = value;
    write("config.json", config.dump());
  }
};

template <class Model>
Model read(const deberta_folder& files) {
  const io::config_check config(files / "config.json");
  return models::read_encoder<typename Model::dims, typename Model::weights>(files.path(),
                                                                             models::encoder_task_of(config));
}
// The largest difference of features and scores from those in float64, of the texts from `first` on in one batch.
template <class Model>
double error_of(const Model& m, const deberta_folder& files, std::size_t first = 0, std::size_t end = 3) {
  std::vector<std::vector<typename Model::token>> texts;
  std::vector<std::vector<id<typename Model::segments>>> parts;
  for (std::size_t k = first; k < end; ++k) {
    const std::string name = "text." + std::to_string(k) + ".";
    texts.push_back(files.ids<typename Model::token>(name + "input_ids"));
    parts.push_back(files.ids<id<typename Model::segments>>(name + "token_type_ids"));
  }
  const bool of_pairs = m.config.extents.segments > 0;
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
  if (m.task == models::encoder_task::text_labels) { compare_all("scores_f64", m.scores(x, batch.lengths)); }
  if (m.task == models::encoder_task::token_labels) { compare_all("scores_f64", m.token_scores(x)); }
  if (m.task == models::encoder_task::masked_tokens) { compare_all("scores_f64", m.logits(x)); }
  return most;
}
using encoder = models::encoder<>;

// The first mismatch that reading the settings throws after a change.
std::string told(const char* name, const std::string& key, const nlohmann::json& value) {
  const deberta_folder files(name);
  files.set(key, value);
  const std::string said = message([&] { (void)read<encoder>(files); });
  const std::size_t at = said.find(":\n  ");
  return at == std::string::npos ? said : said.substr(at + 4);
}

}  // namespace

TEST_CASE("DeBERTa has the features and scores in float64") {
  for (const char* name : cases) {
    CAPTURE(name);
    const deberta_folder files(name);
    const auto m = read<encoder>(files);
    // Rounding of float32 at features and scores below 5, by kernels and by the reference implementation.
    CHECK(error_of(m, files) < 5e-5);
    {
      const plain_loops by_reference;
      CHECK(error_of(m, files) < 5e-5);
    }
    // A batch of short texts computes fewer distances.
    for (std::size_t k = 0; k < 3; ++k) { CHECK(error_of(m, files, k, k + 1) < 5e-5); }
  }
  CHECK(read<encoder>(deberta_folder("deberta-v3")).config.labels ==
        std::vector<std::string>{"entailment", "neutral", "contradiction"});
}

TEST_CASE("DeBERTa with weights of low precision is near float64") {
  for (const char* name : cases) {
    CAPTURE(name);
    const deberta_folder files(name);
    // bfloat16 has 8 bits of precision, blocks of 8 bits have steps of 1/254 of their largest number; they are stored
    // in low precision, so they differ.
    const double of_bfloat16 = error_of(read<models::encoder<models::encoder_dims, bfloat16>>(files), files);
    CHECK(of_bfloat16 < 0.5);
    CHECK(of_bfloat16 > 1e-4);
    const double of_int8 = error_of(read<models::encoder<models::encoder_dims, nn::int8_blocks>>(files), files);
    CHECK(of_int8 < 0.5);
    CHECK(of_int8 > 1e-4);
  }
}

TEST_CASE("each convention of DeBERTa changes the features") {
  const auto changed = [](const char* name, const auto& change) {
    const deberta_folder files(name);
    auto other = read<encoder>(files);
    change(other);
    return error_of(other, files);
  };
  CHECK(changed("deberta-v3", [](encoder& m) { m.config.disentangled.of_keys = false; }) > 0.01);
  CHECK(changed("deberta-v3", [](encoder& m) { m.config.disentangled.of_queries = false; }) > 0.01);
  CHECK(changed("deberta-v3", [](encoder& m) { m.config.disentangled.buckets.exact = 0; }) > 0.01);
  CHECK(changed("deberta-v3", [](encoder& m) { m.config.disentangled.buckets.most = 24; }) > 0.01);
  CHECK(changed("deberta-v3", [](encoder& m) { m.distance_norm.clear(); }) > 0.01);
  CHECK(changed("deberta-v3", [](encoder& m) { m.config.score_scale = 0; }) > 0.01);
  CHECK(changed("deberta-v3", [](encoder& m) { m.classifier.front().activation = models::activation_kind::tanh; }) >
        0.01);
  CHECK(changed("deberta-v2-own-maps", [](encoder& m) {
    for (auto& block : m.blocks) { std::swap(block.attention.distance_query, block.attention.distance_key); }
  }) > 0.01);
  CHECK(changed("deberta-v2-own-maps", [](encoder& m) {
    for (auto& block : m.blocks) { block.attention.distance_key.clear(); }
  }) > 0.01);
  CHECK(changed("deberta-v2-absolute", [](encoder& m) { m.config.score_scale = 0; }) > 0.01);
  CHECK(changed("deberta-v2-convolution", [](encoder& m) { m.convolution.clear(); }) > 0.01);
  CHECK(changed("deberta-v2-convolution",
                [](encoder& m) { m.convolution.front().activation = models::activation_kind::tanh; }) > 0.01);
}

TEST_CASE("distances have the buckets of DeBERTa") {
  // The formula of He et al. by hand: 4 + ceil(3 log(d / 4) / log(11 / 4)) above 4.
  const models::disentangled_buckets buckets{4, 12};
  const std::size_t expected[] = {0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 7, 7, 8};
  for (std::size_t d = 0; d < 13; ++d) {
    CAPTURE(d);
    CHECK(buckets.of(d) == expected[d]);
    const std::size_t before = std::min<std::size_t>(expected[d] + 8, 15);
    CHECK(buckets(-static_cast<std::ptrdiff_t>(d), 16) == before);
    if (d > 0) { CHECK(buckets(static_cast<std::ptrdiff_t>(d), 16) == 8 - std::min<std::size_t>(expected[d], 8)); }
  }
  constexpr std::ptrdiff_t farthest = std::numeric_limits<std::ptrdiff_t>::max();
  for (const std::ptrdiff_t d : {farthest, -farthest - 1}) {
    CHECK(buckets(d, 16) == (d > 0 ? 0 : 15));
    CHECK(models::disentangled_buckets()(d, 16) == (d > 0 ? 0 : 15));
  }
}

TEST_CASE("DeBERTa's parameters are counted, and other settings are rejected by name") {
  for (const char* name : cases) {
    CAPTURE(name);
    const deberta_folder files(name);
    const auto found = models::inspect(files.path());
    CHECK(found.rejected == std::vector<std::string>());
    CHECK(found.architecture == "deberta-v2, an encoder");
    CHECK(found.parameters() == nn::parameter_count(read<encoder>(files)));
    std::size_t all = 0;
    for (const auto& a : found.arrays) { all += a.elements; }
    CHECK(found.parameters() == all);
  }
  CHECK(told("deberta-v2-convolution", "conv_kernel_size", 4) == "conv_kernel_size is 4, an odd number was expected");
  CHECK(told("deberta-v2-convolution", "conv_groups", 2) == "conv_groups is not 1: no other convolution is read");
  CHECK(told("deberta-v2-convolution", "conv_act", "mish").find("conv_act is \"mish\"") == 0);
  CHECK(told("deberta-v2-convolution", "conv_kernel_size", 5).find("encoder.conv.conv.weight") != std::string::npos);
  CHECK(told("deberta-v3", "conv_kernel_size", 3).find("encoder.conv.conv.weight\" is missing") != std::string::npos);
  CHECK(told("deberta-v3", "conv_kernel_size", 0).empty());
  CHECK(told("deberta-v3", "pos_att_type", "p2c|p2p").find("pos_att_type has \"p2p\", c2p or p2c was expected") == 0);
  CHECK(told("deberta-v3", "pos_att_type", nullptr) ==
        "relative_attention is true, and pos_att_type names neither c2p nor p2c");
  CHECK(
      told("deberta-v3", "position_buckets", 1).find("position_buckets is 1, at least 2 and below 22 were expected") ==
      0);
  CHECK(told("deberta-v3", "position_buckets", 22).find("position_buckets is 22, at least 2 and below 22") == 0);
  CHECK(told("deberta-v3", "norm_rel_ebd", "batch_norm").find("norm_rel_ebd is \"batch_norm\"") == 0);
  CHECK(told("deberta-v3", "embedding_size", 12) == "embedding_size is not 24, the hidden_size");
  CHECK(told("deberta-v3", "pooler_hidden_size", 12) == "pooler_hidden_size is not 24, the hidden_size");
  CHECK(told("deberta-v2-masked", "legacy", false) ==
        "legacy is false: the output of masked tokens under lm_predictions is not read");
  CHECK(told("deberta-v2-masked", "tie_word_embeddings", false) ==
        "tie_word_embeddings is false, the model's type has true");
  CHECK(told("deberta-v3", "legacy", false).empty());
  CHECK(told("deberta-v3", "share_att_key", false).find("pos_query_proj.weight\" is missing") != std::string::npos);
}
