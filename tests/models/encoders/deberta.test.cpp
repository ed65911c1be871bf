// tests/models/encoders/deberta.test.cpp -- DeBERTa 2 and 3: features and scores against float64, each convention that
// changes them, and settings that are not read.
// SPDX-License-Identifier: BSL-1.0
#include "models/encoders/float64.hpp"
#include <dimwise/models/inspect.hpp>

#include <algorithm>
#include <limits>

using namespace dimwise;

namespace {

constexpr const char* cases[] = {"deberta-v3",          "deberta-v2-own-maps",    "deberta-v2-masked",
                                 "deberta-v2-absolute", "deberta-v2-convolution", "deberta-v2-wide-convolution"};

struct deberta_folder : dimwise_test::encoder_folder {
  explicit deberta_folder(const std::string& name) : encoder_folder(name, "deberta.dwpack") {}
};
using dimwise_test::error_of;
using encoder = models::encoder<>;

// The first mismatch that reading the settings throws after a change.
std::string told(const char* name, const std::string& key, const nlohmann::json& value) {
  const deberta_folder files(name);
  files.set(key, value);
  return files.told();
}

}  // namespace

TEST_CASE("DeBERTa has the features and scores in float64") {
  for (const char* name : cases) {
    CAPTURE(name);
    const deberta_folder files(name);
    const auto m = files.read();
    // Rounding of float32 at features and scores below 5, by kernels and by the reference implementation.
    CHECK(error_of(m, files) < 5e-5);
    {
      const plain_loops by_reference;
      CHECK(error_of(m, files) < 5e-5);
    }
    // A batch of short texts computes fewer distances.
    for (std::size_t k = 0; k < 3; ++k) { CHECK(error_of(m, files, k, k + 1) < 5e-5); }
  }
  CHECK(deberta_folder("deberta-v3").read().config.labels ==
        std::vector<std::string>{"entailment", "neutral", "contradiction"});
}

TEST_CASE("DeBERTa with weights of low precision is near float64") {
  for (const char* name : cases) {
    CAPTURE(name);
    dimwise_test::check_low_precision(deberta_folder(name));
  }
}

TEST_CASE("each convention of DeBERTa changes the features") {
  const auto changed = [](const char* name, const auto& change) {
    const deberta_folder files(name);
    auto other = files.read();
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
    CHECK(found.parameters() == nn::parameter_count(files.read()));
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
  CHECK(told("deberta-v3", "norm_rel_ebd", "None | Layer_Norm").empty());
  CHECK(told("deberta-v3", "pos_att_type", "P2C | c2p").empty());
  CHECK(told("deberta-v3", "norm_rel_ebd", "none").find("LayerNorm") != std::string::npos);
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
