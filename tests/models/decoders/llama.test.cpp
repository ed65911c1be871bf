// tests/models/decoders/llama.test.cpp -- a folder of LLaMA is read, compared with the types, and continued.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/llama.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace dimwise;

namespace {

using model_type = models::llama<models::llama_dims>;
struct ungrouped : models::llama_dims {
  struct kv_heads : heads_dim<8> {};
};

std::vector<model_type::token> continued(const dimwise_test::model_folder& folder, const model_type& model) {
  auto past = model.start(64);
  return models::generate_greedy(model, folder.ids<model_type::token>("prompt.2.input_ids"), 16, past);
}

}  // namespace

TEST_CASE("a folder is read and continued as the suite expects; rotary pairs for halves give other words") {
  const dimwise_test::model_folder folder("tiny-llama");
  auto model = models::read_llama(folder.path());
  static_assert(std::is_same_v<decltype(model), model_type>);
  CHECK(nn::parameter_count(model) == 99136);
  const auto expected = folder.ids<model_type::token>("prompt.2.greedy_ids");
  CHECK(continued(folder, model) == expected);

  // A file whose features of heads are in pairs, as the original LLaMA's are: said so, it is the same model.
  io::bindings in_pairs;
  models::bind_llama<io::pairs>(in_pairs, model);
  io::save(model, folder / "pairs.safetensors", in_pairs);
  const io::archive stored = io::read_safetensors(folder / "pairs.safetensors");
  const io::config_check config(folder / "config.json");
  CHECK(continued(folder, models::read_llama_as<model_type, io::pairs>(config, stored)) == expected);
  CHECK(continued(folder, models::read_llama_as<model_type, io::halves>(config, stored)) != expected);
}

TEST_CASE("settings that are not those of the types are told at once") {
  const dimwise_test::model_folder folder("tiny-llama");
  CHECK(dimwise_test::message([&] {
    (void)models::read_llama<ungrouped>(folder.path());
  }).find("num_key_value_heads is 2, but kv_heads has extent 8") != std::string::npos);
  CHECK(dimwise_test::message([&] {
    (void)models::read_llama<models::llama_dims, models::tied>(folder.path());
  }).find("tie_word_embeddings is false, the model's type has true") != std::string::npos);
  folder.change("\"rope_scaling\": null", R"("rope_scaling": {"rope_type": "longrope", "factor": 2}, "head_dim": 16)");
  CHECK(dimwise_test::message([&] {
    (void)models::read_llama(folder.path());
  }).find("rope_scaling is of the type \"longrope\", default, linear, llama3 or yarn was expected") !=
        std::string::npos);
  folder.change("\"rope_scaling\": null", R"("rope_scaling": {"rope_type": "llama3", "factor": 8})");
  CHECK(dimwise_test::message([&] {
    (void)models::read_llama(folder.path());
  }).find("rope_scaling: low_freq_factor is missing") != std::string::npos);
  folder.change("\"rope_scaling\": null", R"("head_dim": 7)");
  CHECK(dimwise_test::message([&] {
    (void)models::read_llama(folder.path());
  }).find("the heads have 7 features, an even number was expected") != std::string::npos);
  // head_dim that is not hidden / heads: the settings fit, the file does not, every projection is told.
  folder.change("\"rope_scaling\": null", R"("head_dim": 16)");
  const std::string told = dimwise_test::message([&] { (void)models::read_llama(folder.path()); });
  CHECK(told.find("\"model.layers.1.self_attn.o_proj.weight\" (F32 [64, 64]) does not fit "
                  "blocks.1.attention.output.weight") != std::string::npos);
  CHECK(std::count(told.begin(), told.end(), '\n') == 8);
}

TEST_CASE("scalings of rotary positions are those of the configuration") {
  const auto of = [](const char* text) {
    io::config_check config(io::parse_json(text, "c"), "c");
    const rotary_options options = models::rotary_of(config);
    config.finish();
    return options;
  };
  CHECK(of("{}").base == 10000);
  CHECK(of(R"({"rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}})").base == 500000);
  CHECK(std::get<linear_scaling>(of(R"({"rope_scaling": {"type": "linear", "factor": 4}})").scaling).factor == 4);
  const auto yarn = std::get<yarn_scaling>(
      of(R"({"max_position_embeddings": 512, "rope_scaling": {"rope_type": "yarn", "factor": 2}})").scaling);
  CHECK(yarn.trained == 512);
  CHECK(yarn.fast == 32);
  CHECK(yarn.whole_pairs);
  // What cosines and sines are multiplied by, and how the ramp is cut: numbers of HuggingFace's formula.
  const auto with = [&](const std::string& more) {
    return of(
        (R"({"rope_scaling": {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 64)" + more + "}}")
            .c_str());
  };
  CHECK(rotary_attention(with("")) == doctest::Approx(1.138629436111989).epsilon(1e-14));
  CHECK(rotary_attention(with(R"(, "mscale": 0.7)")) == doctest::Approx(1.138629436111989).epsilon(1e-14));
  CHECK(rotary_attention(with(R"(, "mscale": 0.7, "mscale_all_dim": 0.5)")) ==
        doctest::Approx(1.0259286501478284).epsilon(1e-14));
  CHECK(rotary_attention(with(R"(, "mscale": 1.0, "mscale_all_dim": 1.0)")) == 1);
  CHECK(rotary_attention(with(R"(, "mscale": 0.7, "mscale_all_dim": 0.5, "attention_factor": 1.5)")) == 1.5);
  CHECK(rotary_frequency(1, 16, with("")) == doctest::Approx(0.23717082451262847).epsilon(1e-13));
  CHECK(rotary_frequency(1, 16, with(R"(, "truncate": false)")) == doctest::Approx(0.19858352015369318).epsilon(1e-13));
  CHECK(std::get<yarn_scaling>(with(R"(, "beta_fast": 0, "beta_slow": null)").scaling).fast == 32);
}

TEST_CASE("settings without a meaning are refused by name, with what was expected") {
  const auto told = [](const std::string& rope) {
    io::config_check config(io::parse_json("{\"rope_scaling\": {" + rope + "}}", "c"), "c");
    (void)models::rotary_of(config);
    return config.problems().empty() ? std::string() : config.problems().front();
  };
  CHECK(told(R"("factor": 2)") == "rope_scaling: factor is set, but no rope_type");
  CHECK(told(R"("rope_theta": 5000, "factor": null)").empty());
  for (const std::string type : {"linear", "yarn"}) {
    for (const std::string factor : {"0", "-2"}) {
      CHECK(told(R"("type": ")" + type + R"(", "factor": )" + factor) ==
            "rope_scaling: factor is " + factor + ", a number above 0 was expected");
    }
    CHECK(told(R"("type": ")" + type + "\"") == "rope_scaling: factor is missing");
    CHECK(told(R"("factor": null, "type": ")" + type + "\"") == "rope_scaling: factor is null, a value was expected");
  }
  const std::string yarn = R"("type": "yarn", "factor": 2, )";
  CHECK(told(yarn + R"("original_max_position_embeddings": 0)") ==
        "rope_scaling: original_max_position_embeddings is 0, a number above 0 was expected");
  CHECK(told(yarn + R"("beta_fast": -1)") == "rope_scaling: beta_fast is -1, a number from 0 was expected");
  CHECK(told(yarn + R"("mscale": "1")") == "rope_scaling: mscale is \"1\", a number from 0 was expected");
  CHECK(told(yarn + R"("attention_factor": 0)") ==
        "rope_scaling: attention_factor is 0, a number above 0 was expected");
  CHECK(told(yarn + R"("beta_fast": 0)").empty());
  const auto llama3 = [&](const std::string& low, const std::string& high) {
    return told(R"("rope_type": "llama3", "factor": 8, "original_max_position_embeddings": 64, "low_freq_factor": )" +
                low + R"(, "high_freq_factor": )" + high);
  };
  CHECK(llama3("1", "4").empty());
  CHECK(llama3("0", "4") == "rope_scaling: low_freq_factor is 0, a number above 0 was expected");
  CHECK(llama3("4", "4") == "rope_scaling: high_freq_factor is not above low_freq_factor");
  // NaN, which no file of JSON holds, but settings made otherwise may.
  nlohmann::json settings;
  settings["eps"] = std::numeric_limits<double>::quiet_NaN();
  io::config_check config(settings, "c");
  CHECK(config.number("eps", 1e-6, io::number_range::from_zero) == 1e-6);
  CHECK(config.problems().size() == 1);

  const dimwise_test::model_folder folder("tiny-llama");
  folder.change("\"rms_norm_eps\": ", "\"rms_norm_eps\": -");
  CHECK(dimwise_test::message([&] {
    (void)models::read_llama(folder.path());
  }).find(", a number from 0 was expected") != std::string::npos);
}
