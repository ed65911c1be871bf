// tests/models/decoders/mixtures.test.cpp -- OLMoE, GraniteMoE and PhiMoE: logits against float64, each convention that
// changes them, and settings that are not read.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/inspect.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

using namespace dimwise;

namespace {

using decoder = models::decoder<>;
using token = decoder::token;

constexpr const char* suite = "mixtures.dwpack";

// The largest difference from the logits in float64, at once or token by token.
double error_of(const decoder& m, const dimwise_test::model_folder& files, bool at_once = true) {
  double most = 0;
  for (const std::string k : {"0", "1", "2"}) {
    if (at_once) {
      most = std::max(most, dimwise_test::prompt_error(m, files, k));
      continue;
    }
    // A long prompt of PhiMoE has other rotary positions than its first tokens alone, so the last logits are compared.
    auto past = m.start(64);
    tensor<float, decoder::vocab> last;
    for (const token& one : files.ids<token>("prompt." + k + ".input_ids")) { last = m.next(std::span(&one, 1), past); }
    const auto expected = files.numbers("prompt." + k + ".logits_f64");
    most = std::max(most, dimwise_test::largest_error(last.values(), std::span(expected).last(last.size())));
  }
  return most;
}
std::string said(const std::string& kind, const std::string& more) {
  return dimwise_test::message([&] {
    (void)models::plan_decoder(io::config_check(
        nlohmann::json::parse(R"({"model_type":")" + kind +
                              R"(","vocab_size":20,"hidden_size":32,"intermediate_size":32,"num_hidden_layers":2,
                              "num_attention_heads":8)" +
                              more + "}"),
        "config.json"));
  });
}
models::decoder_config defaults(const std::string& kind) {
  return models::plan_decoder(
             io::config_check(nlohmann::json::parse(
                                  R"({"model_type":")" + kind +
                                  R"(","vocab_size":20,"hidden_size":32,"intermediate_size":32,"num_hidden_layers":2,
                            "num_attention_heads":8})"),
                              "config.json"))
      .config;
}

}  // namespace

TEST_CASE("OLMoE, GraniteMoE and PhiMoE have the logits in float64") {
  for (const char* name : {"olmoe", "granitemoe", "phimoe"}) {
    CAPTURE(name);
    const dimwise_test::model_folder files(name, suite);
    const decoder m = models::read_decoder(files.path());
    // Rounding of float32 at logits below 12.
    CHECK(error_of(m, files) < 2e-4);
    CHECK(error_of(m, files, false) < 2e-4);
    auto fresh = m.start(64);
    const auto expected = files.ids<token>("prompt.1.greedy_ids");
    CHECK(models::generate_greedy(m, files.ids<token>("prompt.1.input_ids"), expected.size(), fresh) == expected);
  }
}

TEST_CASE("each convention of the mixtures changes the logits") {
  const auto changed = [](const char* name, const auto& change) {
    const dimwise_test::model_folder files(name, suite);
    decoder other = models::read_decoder(files.path());
    change(other);
    return error_of(other, files);
  };
  const auto of_mixtures = [](const auto& change) {
    return [change](decoder& m) {
      for (auto& block : m.blocks) { change(block.mixture.front()); }
    };
  };
  CHECK(changed("olmoe", of_mixtures([](auto& x) { x.settings.renormalised = true; })) > 1e-2);
  CHECK(changed("olmoe", of_mixtures([](auto& x) { x.settings.chosen = 1; })) > 1e-2);
  CHECK(changed("granitemoe", of_mixtures([](auto& x) { x.settings.renormalised = false; })) > 1e-2);
  CHECK(changed("granitemoe", of_mixtures([](auto& x) {
    for (auto& expert : x.experts) { std::swap(expert.gate.front(), expert.up); }
  })) > 1e-2);
  CHECK(changed("phimoe", of_mixtures([](auto& x) { x.settings.near = 0; })) > 1e-2);
  CHECK(changed("phimoe", of_mixtures([](auto& x) { x.settings.near = 0.02; })) > 1e-2);
  CHECK(changed("phimoe", [](decoder& m) { m.config.rotary.front().scale = 1; }) > 1e-2);
  CHECK(changed("phimoe", [](decoder& m) { m.config.rotary.front().long_scale = 0; }) > 1e-2);
}

namespace {

struct experts : choice_dim<5> {};
struct position : position_dim<> {};
struct model : feature_dim<1> {};
struct hidden : feature_dim<1> {};

// What the input 1 becomes with these logits of the experts. The expert e has 10^e of a hidden feature max(x, 0).
float mixed(const models::mixture_settings& settings, const tensor<float, model, experts>& logits) {
  using mixture = models::mixture_of_experts<position, model, experts, hidden>;
  mixture m;
  m.settings = settings;
  m.router.weight = logits;
  m.correction.resize(settings.by_sigmoid ? 1 : 0);
  for (std::size_t e = 0; e < 5; ++e) {
    mixture::expert_type expert({.activation = models::activation_kind::relu, .gated = false});
    expert.up.weight = tensor<float, model, hidden>{{1}};
    expert.down.weight = tensor<float, hidden, model>{{std::pow(10.0F, static_cast<float>(e))}};
    m.experts.push_back(expert);
  }
  const tensor<float, position, model> x(std::vector<float>{1}, position{1});
  const tensor<float, position, model> y = m(x);
  return y.data()[0];
}

}  // namespace

TEST_CASE("experts whose probability is rounded to 0 are ordered by their logits") {
  // No other expert is near the likeliest one, or near the second one without it.
  CHECK(mixed({.chosen = 2, .near = 0.02}, {{-5, -3, -1, 120, 2}}) == 11000);
}

TEST_CASE("experts whose probabilities are all rounded to 0 have the weight 0") {
  CHECK(mixed({.chosen = 2, .by_sigmoid = true}, {{-200, -200, -300, -200, -250}}) == 0);
}

TEST_CASE("an expert whose logit is NaN is chosen, and its group") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(mixed({.chosen = 1, .by_sigmoid = true}, {{0, 1, nan, 2, 3}})));
  CHECK(std::isnan(mixed({.chosen = 1, .groups = 5, .chosen_groups = 1, .by_sigmoid = true}, {{0, 1, nan, 2, 3}})));
  CHECK(std::isnan(mixed({.chosen = 1, .groups = 5, .chosen_groups = 1}, {{0, 1, nan, 2, 3}})));
  CHECK(mixed({.chosen = 1, .groups = 5, .chosen_groups = 1, .by_sigmoid = true}, {{0, 1, 3, 2, -1}}) == 100);
}

TEST_CASE("the mixtures have the defaults of their classes, and other settings are rejected by name") {
  CHECK(defaults("olmoe").experts == 64);
  CHECK(defaults("olmoe").chosen_experts == 8);
  CHECK(!defaults("olmoe").renormalised);
  CHECK(defaults("granitemoe").experts == 8);
  CHECK(defaults("granitemoe").chosen_experts == 2);
  CHECK(defaults("granitemoe").renormalised);
  CHECK(defaults("phimoe").experts == 16);
  CHECK(defaults("phimoe").near_experts == doctest::Approx(0.02));
  CHECK(defaults("phimoe").rotary.front().angles[1] == doctest::Approx(std::pow(1e6, -0.5)));
  CHECK(defaults("olmoe").longest == 4096);
  CHECK(defaults("phimoe").longest == 131072);
  CHECK(defaults("mixtral").longest == 131072);
  CHECK(said("olmoe", R"(,"clip_qkv":null)").empty());
  CHECK(said("olmoe", R"(,"clip_qkv":0)").find("clip_qkv is 0, a number above 0 was expected") != std::string::npos);
  CHECK(said("phimoe", R"(,"num_experts_per_tok":1)").find("num_experts_per_tok is not 2") != std::string::npos);
  CHECK(said("phimoe", R"(,"router_jitter_noise":0)").find("router_jitter_noise") != std::string::npos);
  CHECK(said("phimoe", R"(,"rope_scaling":{"type":"longrope","short_factor":[1,1],"long_factor":[1,1],
      "original_max_position_embeddings":8,"long_mscale":1})")
            .find("short_mscale") != std::string::npos);
  const std::string linear =
      said("phimoe", R"(,"rope_scaling":{"type":"linear","factor":2,"short_mscale":1.5,"long_mscale":1.5})");
  CHECK(linear.find("short_mscale is read with the type longrope alone") != std::string::npos);
  CHECK(linear.find("long_mscale is read with the type longrope alone") != std::string::npos);
}
