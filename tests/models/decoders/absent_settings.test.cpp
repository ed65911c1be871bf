// SPDX-License-Identifier: BSL-1.0
// tests/models/decoders/absent_settings.test.cpp -- settings that config.json lacks have the defaults of the classes in
// transformers.
#include <dimwise/models/decoders.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>

using namespace dimwise;

namespace {

// The settings of a decoder of this type, with heads of 16 features, and these in addition.
models::decoder_config config_of(const std::string& type, const std::string& more = "") {
  const std::string text = R"({"vocab_size":20,"hidden_size":32,"intermediate_size":24,"num_hidden_layers":2,
      "num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"model_type":")" +
                           type + "\"" + more + "}";
  return models::plan_decoder(io::config_check(nlohmann::json::parse(text), "config.json")).config;
}

}  // namespace

TEST_CASE("without max_position_embeddings a decoder has the positions of its class") {
  const std::pair<const char*, std::size_t> all[] = {
      {"llama", 2048},         {"smollm3", 32768}, {"mistral", 131072},  {"mixtral", 131072},  {"qwen2", 32768},
      {"qwen2_moe", 32768},    {"qwen3", 32768},   {"qwen3_moe", 32768}, {"gemma", 8192},      {"gemma2", 8192},
      {"gemma3_text", 131072}, {"phi3", 4096},     {"stablelm", 4096},   {"starcoder2", 4096}, {"cohere", 8192},
      {"olmoe", 4096},         {"olmo2", 2048},    {"granite", 2048},    {"phi", 2048},        {"olmo", 2048},
      {"cohere2", 8192}};
  for (const auto& [type, longest] : all) {
    const std::string name = type;  // clang 14 captures no structured binding
    const std::size_t expected = longest;
    CAPTURE(name);
    CHECK(config_of(name).longest == expected);
    // Rotary positions begin to grow there.
    const auto grown = config_of(name, R"(,"rope_scaling":{"rope_type":"dynamic","factor":2})");
    if (name != "phi3") { CHECK(grown.rotary.front().trained == expected); }
  }
}

TEST_CASE("without original_max_position_embeddings Phi 3 was trained on 4096 positions") {
  const auto turned = config_of("phi3", R"(,"max_position_embeddings":131072,
      "rope_scaling":{"type":"longrope","short_factor":[1,1,1,1,1,1,1,1],"long_factor":[2,3,4,5,6,7,8,9]})")
                          .rotary.front();
  CHECK(turned.trained == 4096);
  CHECK(turned.scale == doctest::Approx(std::sqrt(1 + std::log(32.0) / std::log(4096.0))).epsilon(1e-12));
  // Other classes lack the setting: they were trained on max_position_embeddings.
  const auto other = config_of("llama", R"(,"max_position_embeddings":131072,
      "rope_scaling":{"type":"longrope","short_factor":[1,1,1,1,1,1,1,1],"long_factor":[2,3,4,5,6,7,8,9]})")
                         .rotary.front();
  CHECK(other.trained == 131072);
  CHECK(other.scale == 1);
}

TEST_CASE("original_max_position_embeddings beside the scaling of rotary positions counts for the one inside") {
  const std::string yarn = R"(,"max_position_embeddings":512,"rope_scaling":{"rope_type":"yarn","factor":4)";
  const std::string llama3 = R"(,"max_position_embeddings":512,"rope_scaling":{"rope_type":"llama3","factor":4,
      "low_freq_factor":1,"high_freq_factor":4)";
  const std::string longrope = R"(,"max_position_embeddings":512,"rope_scaling":{"rope_type":"longrope",
      "short_factor":[1,1,1,1,1,1,1,1],"long_factor":[2,3,4,5,6,7,8,9])";
  const std::string outer = R"(,"original_max_position_embeddings":32)";
  for (const std::string& scaling : {yarn, llama3, longrope}) {
    CAPTURE(scaling);
    const auto inside = config_of("llama", scaling + outer + "}").rotary.front();
    const auto both =
        config_of("llama", scaling + R"(,"original_max_position_embeddings":128})" + outer).rotary.front();
    CHECK(both.angles == inside.angles);
    CHECK(both.trained == inside.trained);
    CHECK(both.scale == doctest::Approx(inside.scale).epsilon(1e-12));
    CHECK(config_of("llama", scaling + "}" + outer).rotary.front().angles == inside.angles);
    const auto other = config_of("llama", scaling + R"(,"original_max_position_embeddings":128})").rotary.front();
    CHECK((other.angles != inside.angles || other.scale != inside.scale));
  }
  // Phi 3's class has the setting, of 4096.
  const auto phi3 = config_of("phi3", longrope + R"(,"original_max_position_embeddings":128})").rotary.front();
  CHECK(phi3.trained == 4096);
  // Without scaling nothing was trained on less.
  CHECK(config_of("llama", outer).rotary.front().angles == config_of("llama").rotary.front().angles);
}

TEST_CASE("GPTBigCode's class ignores scale_attn_by_inverse_layer_idx") {
  const auto read = [](const char* more) {
    const std::string text =
        std::string(R"({"model_type":"gpt_bigcode","vocab_size":20,"n_embd":16,"n_head":4,"n_layer":3)") + more + "}";
    return models::plan_decoder(io::config_check(nlohmann::json::parse(text), "config.json")).config.layers;
  };
  for (const auto& layer : read(R"(,"scale_attn_by_inverse_layer_idx":true)")) { CHECK(layer.score_scale == 1); }
}
