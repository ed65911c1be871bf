// tests/models/decoders/deepseek.test.cpp -- DeepSeek-V2 and V3: logits against float64, each convention that changes
// them, and settings that are not read.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/inspect.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <type_traits>

using namespace dimwise;

namespace {

using decoder = models::decoder<>;

constexpr const char* suite = "deepseek.dwpack";
constexpr const char* cases[] = {"deepseek-v2-lite", "deepseek-v2", "deepseek-v3", "deepseek-v3-biases",
                                 "deepseek-v3-fp8"};

// The largest difference from the logits in float64, at once or token by token.
template <class Model>
double error_of(const Model& m, const dimwise_test::model_folder& files, bool at_once = true) {
  double most = 0;
  for (const char* prompt : {"0", "1", "2"}) {
    most = std::max(most, dimwise_test::prompt_error(m, files, prompt, at_once));
  }
  return most;
}
std::string said(const std::string& name, const std::string& key, const nlohmann::json& value) {
  const dimwise_test::model_folder files(name, suite);
  nlohmann::json config = nlohmann::json::parse(files.text("config.json"));
  config[key] = value;
  return dimwise_test::message([&] { (void)models::plan_decoder(io::config_check(config, "config.json")); });
}

// The number of a code of 8 bits, by its definition.
float number_of(unsigned code) {
  const int exponent = static_cast<int>(code >> 3U & 15U);
  const int fraction = static_cast<int>(code & 7U);
  const double n = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return static_cast<float>(code < 128 ? n : -n);
}
// Replaces the weights of all maps by codes with a scale for each 5 rows and 7 columns, or by the floats that these
// mean. `change` is called with the arrays.
template <class Change>
void write_codes(const dimwise_test::model_folder& files, bool as_floats, io::element_type scale_type,
                 const Change& change) {
  const std::string text = files.text("model.safetensors");
  const io::archive all = io::parse_safetensors(std::as_bytes(std::span(text)), "model");
  std::vector<io::stored_array> made;
  std::deque<std::vector<std::byte>> memory;
  unsigned drawn = 1;
  const auto append = [](std::vector<std::byte>& to, const auto& value) {
    const auto* const first = reinterpret_cast<const std::byte*>(&value);
    to.insert(to.end(), first, first + sizeof(value));
  };
  for (io::stored_array a : all.arrays()) {
    const bool is_map = a.extents.size() == 2 && a.name.find("_proj") != std::string::npos;
    if (is_map) {
      const std::size_t across = (a.extents[1] + 6) / 7;
      std::vector<std::byte>& bytes = memory.emplace_back();
      std::vector<std::byte>& scales = memory.emplace_back();
      const auto scale_of = [&](std::size_t block) { return std::ldexp(static_cast<float>(8 + block % 8), -15); };
      for (std::size_t i = 0; i < a.extents[0] * a.extents[1]; ++i) {
        drawn = drawn * 1103515245U + 12345U;
        unsigned code = drawn >> 16U & 255U;
        if ((code & 127U) == 127U) { code -= 1; }
        const std::size_t block = i / a.extents[1] / 5 * across + i % a.extents[1] / 7;
        as_floats ? append(bytes, number_of(code) * scale_of(block)) : append(bytes, static_cast<std::byte>(code));
      }
      a.bytes = bytes;
      if (!as_floats) {
        a.type = io::element_type::f8_e4m3;
        const std::vector<std::size_t> grid{(a.extents[0] + 4) / 5, across};
        for (std::size_t block = 0; block < grid[0] * grid[1]; ++block) {
          scale_type == io::element_type::f32 ? append(scales, scale_of(block))
                                              : append(scales, bfloat16(scale_of(block)));
        }
        made.push_back({a.name + "_scale_inv", scale_type, grid, scales});
      }
    }
    made.push_back(std::move(a));
  }
  change(made);
  io::write_safetensors(files / "model.safetensors", made);
  nlohmann::json config = nlohmann::json::parse(files.text("config.json"));
  if (!as_floats) {
    config["quantization_config"] = {
        {"quant_method", "fp8"}, {"fmt", "e4m3"}, {"activation_scheme", "dynamic"}, {"weight_block_size", {5, 7}}};
  }
  files.write("config.json", config.dump());
}

}  // namespace

TEST_CASE("codes of 8 bits are the numbers of E4M3") {
  const float scale = 0.5F;
  for (unsigned code = 0; code < 256; ++code) {
    CAPTURE(code);
    const auto byte = static_cast<std::byte>(code);
    const float found = io::detail::fp8_source{&byte, reinterpret_cast<const std::byte*>(&scale), 1, 1, 1}(0);
    const bool is_nan = (code & 127U) == 127U;
    CHECK(std::isnan(found) == is_nan);
    if (!is_nan) { CHECK(found == number_of(code) / 2); }
  }
  CHECK(number_of(0x7e) == 448);
}

TEST_CASE("weights of 8 bits with scales of blocks are those that they mean") {
  const dimwise_test::model_folder files("deepseek-v3", suite);
  const auto nothing = [](auto&) {};
  const auto logits = [&] {
    const decoder m = models::read_decoder(files.path());
    auto past = m.start(64);
    const auto all = m.logits(m.features(files.ids<decoder::token>("prompt.2.input_ids"), past));
    return std::vector<float>(all.values().begin(), all.values().end());
  };
  write_codes(files, true, io::element_type::f32, nothing);
  const std::vector<float> expected = logits();
  for (const float one : expected) { REQUIRE(std::isfinite(one)); }
  for (const io::element_type type : {io::element_type::f32, io::element_type::bf16}) {
    write_codes(files, false, type, nothing);
    CHECK(logits() == expected);
    const auto found = models::inspect(files.path());
    CHECK(found.rejected == std::vector<std::string>());
    CHECK(found.parameters() == nn::parameter_count(models::read_decoder(files.path())));
  }
  const auto told = [&](const auto& change) {
    write_codes(files, false, io::element_type::f32, change);
    return dimwise_test::message([&] { (void)logits(); });
  };
  const std::string map = "model.layers.0.mlp.down_proj.weight";
  const auto is_scale = [&](const io::stored_array& a) { return a.name == map + "_scale_inv"; };
  CHECK(told([&](auto& all) { std::erase_if(all, is_scale); }).find(map + "\" F8_E4M3 [24, 20] has no scales") !=
        std::string::npos);
  CHECK(told([&](auto& all) {
    std::find_if(all.begin(), all.end(), is_scale)->extents = {3, 5};
  }).find(map + "_scale_inv\" F32 [3, 5] does not fit: F32 or BF16 [5, 3] was expected") != std::string::npos);
  // Every other type and number of dimensions, with as many bytes as it has.
  const std::vector<std::byte> zeros(24 * 20 * 2);
  const auto as = [&](const std::string& name, io::element_type type, std::vector<std::size_t> extents) {
    return told([&](auto& all) {
      const auto one = std::find_if(all.begin(), all.end(), [&](const auto& a) { return a.name == name; });
      const std::size_t bytes = *io::bytes_of(type, *io::count_of(extents));
      *one = {name, type, std::move(extents), std::span(zeros).first(bytes)};
    });
  };
  const std::string expected_codes = " has scales of blocks, but F8_E4M3 [rows, columns] was expected";
  CHECK(as(map, io::element_type::bf16, {24, 20}).find(map + "\" BF16 [24, 20]" + expected_codes) != std::string::npos);
  CHECK(as(map, io::element_type::f8_e4m3, {480}).find(map + "\" F8_E4M3 [480]" + expected_codes) != std::string::npos);
  CHECK(as(map + "_scale_inv", io::element_type::f16, {5, 3})
            .find("F16 [5, 3] does not fit: F32 or BF16 [5, 3] was expected") != std::string::npos);
}

TEST_CASE("DeepSeek-V2 and V3 have the logits in float64") {
  for (const char* name : cases) {
    CAPTURE(name);
    const dimwise_test::model_folder files(name, suite);
    const decoder m = models::read_decoder(files.path());
    // Rounding of float32 at logits below 8, by kernels and by the reference implementation.
    CHECK(error_of(m, files) < 1e-4);
    CHECK(error_of(m, files, false) < 1e-4);
    {
      const plain_loops by_reference;
      CHECK(error_of(m, files) < 1e-4);
    }
    auto fresh = m.start(64);
    const auto expected = files.ids<decoder::token>("prompt.1.greedy_ids");
    CHECK(models::generate_greedy(m, files.ids<decoder::token>("prompt.1.input_ids"), expected.size(), fresh) ==
          expected);
  }
}

TEST_CASE("DeepSeek with weights of low precision is near its logits with floats") {
  // All experts of all groups: rounding would choose others.
  const auto logits_with = []<class Weights>(std::type_identity<Weights>, const dimwise_test::model_folder& files) {
    using model = models::decoder<models::decoder_dims, Weights>;
    auto m = models::read_decoder<models::decoder_dims, Weights>(files.path());
    for (auto& block : m.blocks) {
      for (auto& mixture : block.mixture) {
        mixture.settings.chosen = mixture.experts.size();
        mixture.settings.chosen_groups = mixture.settings.groups;
      }
    }
    auto past = m.start(64);
    const auto logits = m.logits(m.features(files.ids<typename model::token>("prompt.2.input_ids"), past));
    return std::vector<float>(logits.values().begin(), logits.values().end());
  };
  for (const char* name : cases) {
    CAPTURE(name);
    const dimwise_test::model_folder files(name, suite);
    const auto exact = logits_with(std::type_identity<float>(), files);
    const auto error = [&](const std::vector<float>& found) {
      float most = 0;
      for (std::size_t i = 0; i < exact.size(); ++i) { most = std::max(most, std::abs(found[i] - exact[i])); }
      return most;
    };
    // bfloat16 has 8 bits of precision, which adds up to 0.19 to 0.63 at logits below 8. Blocks of 8 bits have steps of
    // 1/254 of their largest number, also of the features: 0.8 to 1.7. Stored in low precision, they differ.
    const float of_bfloat16 = error(logits_with(std::type_identity<bfloat16>(), files));
    const float of_int8 = error(logits_with(std::type_identity<nn::int8_blocks>(), files));
    CHECK(of_bfloat16 < 1);
    CHECK(of_bfloat16 > 1e-4F);
    CHECK(of_int8 < 3);
    CHECK(of_int8 > 1e-4F);
  }
}

TEST_CASE("each convention of DeepSeek changes the logits") {
  const auto changed = [](const char* name, const auto& change) {
    const dimwise_test::model_folder files(name, suite);
    decoder other = models::read_decoder(files.path());
    change(other);
    return error_of(other, files);
  };
  const auto of_mixtures = [](const auto& change) {
    return [change](decoder& m) {
      for (auto& block : m.blocks) {
        for (auto& mixture : block.mixture) { change(mixture); }
      }
    };
  };
  for (const char* name : cases) {
    CAPTURE(name);
    CHECK(changed(name, [](decoder& m) {
      for (auto& block : m.blocks) { block.attention.settings.pairs = rotary_pairs::half_split; }
    }) > 1e-2);
    CHECK(changed(name, of_mixtures([](auto& x) { x.shared.clear(); })) > 1e-2);
    CHECK(changed(name, of_mixtures([](auto& x) { x.settings.renormalised = !x.settings.renormalised; })) > 1e-2);
  }
  for (const char* name : {"deepseek-v2-lite", "deepseek-v3", "deepseek-v3-biases"}) {
    CHECK(changed(name, [](decoder& m) {
      for (auto& block : m.blocks) { block.attention.settings.score_scale = 1 / std::sqrt(10.0); }
    }) > 1e-2);
  }
  for (const char* name : {"deepseek-v2", "deepseek-v3", "deepseek-v3-biases"}) {
    CAPTURE(name);
    CHECK(changed(name, of_mixtures([](auto& x) { x.settings.scale = 1; })) > 1e-2);
    CHECK(changed(name, of_mixtures([](auto& x) { x.settings.chosen_groups = 4; })) > 1e-2);
  }
  CHECK(changed("deepseek-v3-biases", [](decoder& m) { m.config.rotary.front().scale = 1; }) > 1e-2);
  CHECK(changed("deepseek-v3", of_mixtures([](auto& x) { x.correction.front() = x.correction.front() * 0.0F; })) >
        1e-2);
}

TEST_CASE("the scale of scores has YaRN's factor, also that of the lengths") {
  const dimwise_test::model_folder files("deepseek-v3", suite);
  nlohmann::json config = nlohmann::json::parse(files.text("config.json"));
  const auto scale = [&] { return models::plan_decoder(io::config_check(config, "config.json")).config.score_scale; };
  const double said = scale();
  CHECK(said == doctest::Approx(std::pow(0.1 * std::log(4.0) + 1, 2) / std::sqrt(10.0)));
  config["rope_scaling"].erase("factor");  // 64 positions, 16 of them in training
  CHECK(scale() == said);
}

TEST_CASE("static extents of latent attention are compared with config.json") {
  struct narrow : models::decoder_dims {
    struct latent : feature_dim<11> {};
    struct query_latent : feature_dim<13> {};
    struct d_content : feature_dim<7> {};
    struct d_rotated : feature_dim<5> {};
    struct experts : choice_dim<9> {};
    struct expert_hidden : feature_dim<3> {};
    struct shared_hidden : feature_dim<4> {};
  };
  const dimwise_test::model_folder files("deepseek-v3", suite);
  io::config_check config(files / "config.json");
  models::check_decoder_extents<narrow>(config, models::plan_decoder(config).config);
  const std::string text = dimwise_test::message([&] { config.finish(); });
  INFO(text);
  for (const char* part : {"a latent vector is 10, but latent has extent 11", "query is 12, but query_latent has",
                           "other features of a head is 6, but d_content has", "head is 4, but d_rotated has",
                           "experts is 8, but experts has extent 9", "an expert is 8, but expert_hidden has extent 3",
                           "the shared expert is 8, but shared_hidden has extent 4"}) {
    CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("DeepSeek's parameters are counted, and other settings are rejected by name") {
  for (const char* name : cases) {
    CAPTURE(name);
    const dimwise_test::model_folder files(name, suite);
    const auto found = models::inspect(files.path());
    CHECK(found.rejected == std::vector<std::string>());
    CHECK(found.parameters() == nn::parameter_count(models::read_decoder(files.path())));
  }
  const auto has = [](const std::string& text, const char* part) {
    INFO(text);
    return text.find(part) != std::string::npos;
  };
  CHECK(has(said("deepseek-v2", "topk_method", "noaux_tc"), "topk_method is \"noaux_tc\""));
  CHECK(has(said("deepseek-v2", "norm_topk_prob", true), "norm_topk_prob is true"));
  CHECK(has(said("deepseek-v2", "scoring_func", "sigmoid"), "scoring_func is \"sigmoid\""));
  CHECK(has(said("deepseek-v2", "moe_layer_freq", 2U), "moe_layer_freq is not 1"));
  CHECK(has(said("deepseek-v2", "num_key_value_heads", 1U), "num_key_value_heads is not num_attention_heads"));
  CHECK(has(said("deepseek-v3", "rope_scaling", {{"type", "linear"}, {"factor", 2}, {"mscale_all_dim", 1}}),
            "rope_scaling: mscale_all_dim is read with the type yarn alone"));
  CHECK(has(said("deepseek-v3", "rope_scaling", {{"type", "yarn"}, {"factor", 2}, {"mscale_all_dim", "1"}}),
            "rope_scaling: mscale_all_dim is \"1\""));
  CHECK(has(said("deepseek-v3", "topk_group", 1U), "1 of 4 equal groups of 8 experts do not have 3"));
  CHECK(has(said("deepseek-v3", "n_group", 3U), "2 of 3 equal groups of 8 experts do not have 3"));
  CHECK(has(said("deepseek-v3", "qk_rope_head_dim", 3U), "rotary positions turn 3 features"));
  CHECK(has(said("deepseek-v3", "quantization_config", {{"quant_method", "awq"}}), "quantization_config is set"));
  CHECK(said("deepseek-v3", "hidden_size", 31U).empty());  // the features of a head are settings of their own
  const nlohmann::json fp8{{"quant_method", "fp8"}, {"weight_block_size", {128, 128}}};
  CHECK(said("deepseek-v3", "quantization_config", fp8).empty());
  CHECK(said("deepseek-v2", "quantization_config", fp8).empty());
  const auto changed = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json other = fp8;
    other[key] = value;
    return said("deepseek-v3", "quantization_config", other);
  };
  CHECK(has(changed("fmt", "e5m2"), "quantization_config: fmt is \"e5m2\""));
  CHECK(has(changed("activation_scheme", "static"), "quantization_config: activation_scheme is \"static\""));
  for (const nlohmann::json& block : {nlohmann::json(), nlohmann::json({128}), nlohmann::json({0, 1}),
                                      nlohmann::json({1.5, 1}), nlohmann::json({1, 65537})}) {
    CHECK(has(changed("weight_block_size", block), "weight_block_size is not two numbers from 1 to 65536"));
  }
}
