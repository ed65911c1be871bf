// tests/models/encoders/gte.test.cpp -- GTE: features and scores against float64, each convention that changes them,
// and settings that are not read.
// SPDX-License-Identifier: BSL-1.0
#include "models/encoders/float64.hpp"
#include <dimwise/models/inspect.hpp>

#include <utility>

using namespace dimwise;
using dimwise_test::error_of;

namespace {

constexpr const char* cases[] = {"gte", "gte-multilingual", "gte-separate"};

struct gte_folder : dimwise_test::encoder_folder {
  explicit gte_folder(const std::string& name) : encoder_folder(name, "gte.dwpack") {}
};
using encoder = models::encoder<>;

}  // namespace

TEST_CASE("GTE has the features and scores in float64") {
  for (const char* name : cases) {
    CAPTURE(name);
    const gte_folder files(name);
    const auto m = files.read();
    // Rounding of float32 at features and scores below 4, by kernels and by the reference implementation.
    CHECK(error_of(m, files) < 5e-5);
    {
      const plain_loops by_reference;
      CHECK(error_of(m, files) < 5e-5);
    }
    CHECK(error_of(m, files, 1, 2) < 5e-5);
    dimwise_test::check_low_precision(files);
    const auto found = models::inspect(files.path());
    CHECK(found.rejected == std::vector<std::string>());
    CHECK(found.parameters() == nn::parameter_count(m));
  }
}

TEST_CASE("each convention of GTE changes the features") {
  const auto changed = [](const char* name, const auto& change) {
    const gte_folder files(name);
    auto other = files.read();
    change(other);
    return error_of(other, files);
  };
  for (const char* name : cases) {
    CAPTURE(name);
    CHECK(changed(name, [](encoder& m) {
      for (auto& block : m.blocks) { std::swap(block.feed_forward.gate.front(), block.feed_forward.up); }
    }) > 0.01);
    CHECK(changed(name, [](encoder& m) { m.config.rotary.clear(); }) > 0.01);
  }
  // The base and the angles of NTK scaling.
  CHECK(changed("gte", [](encoder& m) {
    for (double& angle : m.config.rotary.front().angles) { angle *= std::pow(2, 2.0 / 8); }
  }) > 0.01);
  CHECK(changed("gte", [](encoder& m) { m.config.rotary.front().angles[1] *= std::pow(2, 2.0 / 8); }) > 0.01);
  CHECK(changed("gte", [](encoder& m) { m.classifier.front().activation = models::activation_kind::gelu; }) > 0.01);
}

TEST_CASE("settings of GTE that are not read are rejected by name") {
  const auto told = [](const std::string& key, const nlohmann::json& value) {
    const gte_folder files("gte");
    files.set(key, value);
    return files.told();
  };
  CHECK(told("rope_theta", 500.0).empty());
  CHECK(told("rope_scaling", {{"type", "linear"}, {"factor", 2}}) ==
        "rope_scaling: the type is not ntk, the one that is read");
  CHECK(told("rope_scaling", {{"type", "ntk"}}).find("rope_scaling: factor is missing") == 0);
  CHECK(told("rope_scaling", {{"type", "ntk"}, {"factor", 2}, {"mixed_b", 0.6}}) ==
        "rope_scaling: mixed_b is set; a factor that grows with the pair is not read");
  CHECK(told("position_embedding_type", "absolute").find("position_embedding_type is \"absolute\"") == 0);
  CHECK(told("layer_norm_type", "rms_norm").find("layer_norm_type is \"rms_norm\"") == 0);
  CHECK(told("logn_attention_scale", true).find("logn_attention_scale is true") == 0);
  CHECK(told("pack_qkv", false).find("attention.q_proj.weight\" is missing") != std::string::npos);
  CHECK(told("num_attention_heads", 8) ==
        "rotary positions turn 3 features of a head, an even number up to 65536 was expected");
  CHECK(told("hidden_size", 1099511627772).find("rotary positions turn 366503875924 features of a head") == 0);
}
