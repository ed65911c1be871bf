// SPDX-License-Identifier: BSL-1.0
// tests/models/decoders/further_decoders.test.cpp -- Cohere 2, GPT-J, OLMo and OLMoE with clip_qkv: logits against
// float64, each convention that changes them, and settings that are not read.
#include "models/support.hpp"
#include <dimwise/models/inspect.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace dimwise;

namespace {

using decoder = models::decoder<>;
using token = decoder::token;

constexpr const char* suite = "further_decoders.dwpack";
constexpr const char* cases[] = {"cohere2", "cohere2-types", "gptj", "olmo", "olmo-clip", "olmoe-clip"};

// The largest difference from the logits in float64, in units of the largest logit.
double error_of(const decoder& m, const dimwise_test::model_folder& files, bool at_once = true) {
  double most = 0;
  double largest = 0;
  for (const std::string k : {"0", "1", "2"}) {
    most = std::max(most, dimwise_test::prompt_error(m, files, k, at_once));
    for (const double x : files.numbers("prompt." + k + ".logits_f64")) { largest = std::max(largest, std::abs(x)); }
  }
  return most / largest;
}
models::decoder_config config_of(const std::string& text) {
  return models::plan_decoder(io::config_check(nlohmann::json::parse(text), "config.json")).config;
}
std::string cohere2_with(const std::string& more) {
  return R"({"model_type":"cohere2","vocab_size":20,"hidden_size":32,"intermediate_size":32,"num_hidden_layers":5,
             "num_attention_heads":4)" +
         more + "}";
}
bool says(const std::string& text, const std::string& part) {
  const std::string said = dimwise_test::message([&] { (void)config_of(text); });
  INFO(said);
  return said.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("Cohere 2, GPT-J, OLMo and OLMoE with clip_qkv have the logits in float64") {
  for (const char* name : cases) {
    CAPTURE(name);
    const dimwise_test::model_folder files(name, suite);
    const decoder m = models::read_decoder(files.path());
    CHECK(error_of(m, files) < 1e-5);
    CHECK(error_of(m, files, false) < 1e-5);
    auto fresh = m.start(64);
    const auto expected = files.ids<token>("prompt.1.greedy_ids");
    CHECK(models::generate_greedy(m, files.ids<token>("prompt.1.input_ids"), expected.size(), fresh) == expected);
    const auto found = models::inspect(files.path());
    CHECK(found.rejected == std::vector<std::string>());
    CHECK(found.parameters() == nn::parameter_count(m));
  }
}

TEST_CASE("each convention of Cohere 2, GPT-J and OLMo changes the logits") {
  const auto changed = [](const char* name, const auto& change) {
    const dimwise_test::model_folder files(name, suite);
    decoder other = models::read_decoder(files.path());
    for (auto& block : other.blocks) { change(block); }
    other.norm.settings.epsilon = other.blocks.front().norm1.settings.epsilon;
    return error_of(other, files);
  };
  for (const char* name : {"cohere2", "cohere2-types", "gptj"}) {
    CAPTURE(name);
    CHECK(changed(name, [](auto& b) { b.attention.settings.pairs = rotary_pairs::half_split; }) > 1e-3);
    CHECK(changed(name, [](auto& b) { b.settings.parallel = false; }) > 1e-3);
  }
  for (const char* name : {"cohere2", "cohere2-types"}) {
    CAPTURE(name);
    CHECK(changed(name, [](auto& b) { b.attention.settings.rotary = 0; }) > 1e-3);
    CHECK(changed(name, [](auto& b) { b.attention.settings.window = 0; }) > 1e-3);
    CHECK(changed(name, [](auto& b) { b.norm1.settings.kind = models::norm_kind::rms; }) > 1e-3);
  }
  for (const char* name : {"olmo-clip", "olmoe-clip"}) {
    CAPTURE(name);
    CHECK(changed(name, [](auto& b) { b.attention.settings.input_limit = 0; }) > 1e-3);
  }
  CHECK(changed("olmo", [](auto& b) { b.norm1.settings.epsilon = 1e-6; }) > 1e-3);
  CHECK(changed("olmo", [](auto& b) { b.norm2.settings.kind = models::norm_kind::rms; }) > 1e-3);
}

TEST_CASE("absent settings have the defaults of the classes, and others are rejected by name") {
  const auto cohere2 = config_of(cohere2_with(""));
  CHECK(cohere2.tied);
  CHECK(cohere2.logit_scale == 0.0625);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(cohere2.layers[i].window == (i == 3 ? 0 : 4096));
    CHECK(cohere2.layers[i].rotary == (i == 3 ? models::no_rotary : 0));
  }
  CHECK(says(cohere2_with(R"(,"sliding_window":null)"), "sliding_window is null; layers with windows alone"));
  CHECK(says(cohere2_with(R"(,"layer_types":["full_attention"])"), "layer_types has 1 entries, 5 were expected"));

  const auto gptj = config_of(R"({"model_type":"gptj"})");
  CHECK(gptj.vocab == 50400);
  CHECK(gptj.hidden == 4 * 4096);
  CHECK(gptj.layers.size() == 28);
  CHECK(gptj.longest == 2048);
  CHECK(gptj.rotary.front().angles.size() == 32);
  CHECK_FALSE(gptj.tied);
  const std::string expected = ", an even number from 2 to the 256 features of a head was expected";
  CHECK(says(R"({"model_type":"gptj","rotary_dim":null})", "rotary_dim is null" + expected));
  CHECK(says(R"({"model_type":"gptj","rotary_dim":5})", "rotary_dim is 5" + expected));
  CHECK(says(R"({"model_type":"gptj","rotary_dim":258})", "rotary_dim is 258" + expected));

  const std::string olmo = R"({"model_type":"olmo","vocab_size":20,"hidden_size":32,"intermediate_size":32,
      "num_hidden_layers":2,"num_attention_heads":4)";
  CHECK(config_of(olmo + R"(,"rms_norm_eps":0.5})").norm.epsilon == 1e-5);  // the class has no such setting
  CHECK(config_of(olmo + R"(,"clip_qkv":null})").input_limit == 0);
  CHECK(config_of(olmo + R"(,"clip_qkv":8})").input_limit == 8);
  CHECK(says(olmo + R"(,"clip_qkv":-1})", "clip_qkv is -1, a number above 0 was expected"));
}
