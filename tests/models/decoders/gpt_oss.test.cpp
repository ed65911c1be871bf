// tests/models/decoders/gpt_oss.test.cpp -- gpt-oss: logits against float64 with experts as floats and as MXFP4, each
// convention that changes them, and files and settings that are not read.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/inspect.hpp>

#include <doctest/doctest.h>

using namespace dimwise;

namespace {

using decoder = models::decoder<>;
using token = decoder::token;

constexpr const char* suite = "gpt_oss.dwpack";

std::string said(const std::string& more) {
  return dimwise_test::message([&] {
    (void)models::plan_decoder(io::config_check(
        nlohmann::json::parse(R"({"model_type":"gpt_oss","vocab_size":20,"hidden_size":32,"intermediate_size":32,
            "num_hidden_layers":2,"num_attention_heads":8)" +
                              more + "}"),
        "config.json"));
  });
}

}  // namespace

TEST_CASE("gpt-oss has the logits in float64, with experts as floats and as MXFP4") {
  for (const char* name : {"floats", "mxfp4"}) {
    CAPTURE(name);
    const dimwise_test::model_folder files(name, suite);
    decoder m = models::read_decoder(files.path());
    // Rounding of float32 at logits below 10.
    CHECK(dimwise_test::prompt_error(m, files, "2") < 2e-4);
    const auto ids = files.ids<token>("prompt.2.input_ids");
    auto at_once = m.start(64);
    auto slowly = m.start(64);
    const auto whole = m.next(ids, at_once);
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) { (void)m.next(std::span(&ids[i], 1), slowly); }
    const auto last = m.next(std::span(&ids.back(), 1), slowly);
    for (std::size_t i = 0; i < last.size(); ++i) {
      CHECK(static_cast<double>(last.values()[i]) ==
            doctest::Approx(static_cast<double>(whole.values()[i])).epsilon(1e-4));
    }
    auto fresh = m.start(64);
    const auto expected = files.ids<token>("prompt.1.greedy_ids");
    CHECK(models::generate_greedy(m, files.ids<token>("prompt.1.input_ids"), expected.size(), fresh) == expected);
    // Each of these conventions changes the logits.
    const auto changed = [&](const auto& change) {
      decoder other = m;
      for (auto& block : other.blocks) { change(block); }
      return dimwise_test::prompt_error(other, files, "2");
    };
    CHECK(changed([](auto& b) { b.attention.sinks.clear(); }) > 1e-2);
    CHECK(changed([](auto& b) { b.attention.settings.window = 0; }) > 1e-2);
    CHECK(changed([](auto& b) { b.mixture.front().router.bias.clear(); }) > 1e-2);
    CHECK(changed([](auto& b) { b.mixture.front().settings.renormalised = false; }) > 1e-2);
    CHECK(changed([](auto& b) {
      for (auto& expert : b.mixture.front().experts) { expert.limit *= 2; }
    }) > 1e-2);
    CHECK(changed([](auto& b) {
      for (auto& expert : b.mixture.front().experts) { std::swap(expert.gate.front(), expert.up); }
    }) > 1e-2);
  }
}

TEST_CASE("absent settings of gpt-oss have the defaults of its class, and others are rejected by name") {
  CHECK(said("").empty());
  const auto plan = models::plan_decoder(io::config_check(
      nlohmann::json::parse(R"({"model_type":"gpt_oss","vocab_size":20,"hidden_size":32,"intermediate_size":32,
          "num_hidden_layers":3,"num_attention_heads":8})"),
      "config.json"));
  CHECK(plan.config.layers[0].window == 128);
  CHECK(plan.config.layers[1].window == 0);
  CHECK(plan.config.experts == 128);
  CHECK(plan.config.chosen_experts == 4);
  CHECK(plan.config.feed.limit == 7);
  CHECK(plan.config.rotary.front().scale == doctest::Approx(0.1 * std::log(32.0) + 1));
  CHECK(plan.names.expert_in_out);
  CHECK(said(R"(,"quantization_config":{"quant_method":"mxfp4"})").empty());
  CHECK(said(R"(,"quantization_config":{"quant_method":"gptq"})").find("quant_method is \"gptq\"") !=
        std::string::npos);
  CHECK(said(R"(,"swiglu_alpha":1.5)").find("swiglu_alpha is not 1.702") != std::string::npos);
  CHECK(said(R"(,"hidden_act":"gelu")").find("hidden_act is \"gelu\"") != std::string::npos);
  CHECK(said(R"(,"layer_types":["full_attention","chunked_attention"])").find("chunked_attention") !=
        std::string::npos);
}

TEST_CASE("settings of an architecture that exclude each other are rejected") {
  const nlohmann::json settings = nlohmann::json::parse(R"({"model_type":"other","vocab_size":20,"hidden_size":32,
      "intermediate_size":32,"num_hidden_layers":2,"num_attention_heads":8})");
  const auto said_of = [&](models::decoder_plan (*read)(io::config_check&)) {
    return dimwise_test::message(
        [&] { (void)models::plan_decoder(io::config_check(settings, "config.json"), {{"other", read, "Other", ""}}); });
  };
  CHECK(said_of(models::architectures::gpt_oss).empty());
  CHECK(said_of([](io::config_check& c) {
    models::decoder_plan plan = models::architectures::gpt_oss(c);
    plan.config.alibi = true;
    return plan;
  }).find("two of sinks, ALiBi and a soft cap") != std::string::npos);
  CHECK(said_of([](io::config_check& c) {
    models::decoder_plan plan = models::architectures::gpt_oss(c);
    plan.config.score_cap = 30;
    return plan;
  }).find("two of sinks, ALiBi and a soft cap") != std::string::npos);
  CHECK(said_of([](io::config_check& c) {
    models::decoder_plan plan = models::architectures::gpt_oss(c);
    plan.config.feed.gated = false;
    return plan;
  }).find("without a gate") != std::string::npos);
}

TEST_CASE("MXFP4 is read from 4 bits and a power of two, and blocks that do not fit their scales are rejected") {
  std::vector<std::byte> bytes(32);
  for (std::size_t i = 0; i < 32; ++i) { bytes[i] = static_cast<std::byte>((2 * i) % 16 + 16 * ((2 * i + 1) % 16)); }
  const std::vector<std::byte> scales{std::byte{127}, std::byte{0}};
  const io::detail::mxfp4_source source{bytes.data(), scales.data()};
  const float values[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6, 0, -0.5F, -1, -1.5F, -2, -3, -4, -6};
  for (std::size_t i = 0; i < 64; ++i) {
    CHECK(source(i) == (i < 32 ? values[i % 16] : values[i % 16] * std::ldexp(1.0F, -127)));
  }
  // 254 is the largest scale, 255 NaN, also of an element 0.
  const std::vector<std::byte> largest{std::byte{254}, std::byte{255}};
  const io::detail::mxfp4_source last{bytes.data(), largest.data()};
  CHECK(last(2) == std::ldexp(1.0F, 127));
  for (std::size_t i = 32; i < 64; ++i) { CHECK(std::isnan(last(i))); }
  const dimwise_test::model_folder files("mxfp4", suite);
  const io::archive from = io::read_safetensors(files / "model.safetensors");
  const auto read_with = [&](const std::string& name, const auto& change) {
    io::archive made("changed");
    for (io::stored_array a : from.arrays()) {
      if (a.name == name) { change(a); }
      if (!a.name.empty()) { made.add(a); }
    }
    return dimwise_test::message([&] { (void)models::read_decoder(io::config_check(files / "config.json"), made); });
  };
  const std::string at = "model.layers.1.mlp.experts.gate_up_proj_";
  CHECK(read_with(at + "scales", [](auto& a) { a.name.clear(); }).find(at + "scales") != std::string::npos);
  CHECK(read_with(at + "scales", [](auto& a) { a.extents = {1, 1, 320}; }).find("are not MXFP4") != std::string::npos);
  CHECK(read_with(at + "blocks", [](auto& a) { a.type = io::element_type::i8; }).find("are not MXFP4") !=
        std::string::npos);
  CHECK(read_with(at + "bias", [](auto& a) { a.extents = {64, 5}; }).find(at + "bias") != std::string::npos);
}

TEST_CASE("dimwise-inspect counts the parameters of experts, not their blocks") {
  for (const char* name : {"floats", "mxfp4"}) {
    const dimwise_test::model_folder files(name, suite);
    const models::inspection found = models::inspect(files.path());
    CHECK(found.rejected.empty());
    CHECK(found.architecture == "gpt-oss (gpt_oss), a decoder");
    CHECK(found.parameters() == nn::parameter_count(models::read_decoder(files.path())));
  }
}
