// tests/models/decoders/bidirectional_decoders.test.cpp -- decoders without the causal mask: features and vectors
// against float64, each convention that changes them, and what such a model does not compute.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/encoder/encoder.hpp>
#include <dimwise/models/inspect.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace dimwise;
using dimwise_test::message;

namespace {

using token = models::decoder<>::token;

// A folder of sentence-transformers, with its golden numbers.
struct sentence_folder : dimwise_test::pack_folder {
  explicit sentence_folder(const std::string& name) : pack_folder(name + "/", "bidirectional.dwpack") {}
  [[nodiscard]] std::vector<double> numbers(const std::string& name) const {
    const io::archive golden = io::read_safetensors(path() / "golden.safetensors");
    const auto read = io::read_tensor<tensor<double, models::decoder_dims::seq>>(flat(golden.at(name)));
    return {read.values().begin(), read.values().end()};
  }
  [[nodiscard]] std::vector<std::size_t> ids(const std::string& text) const {
    const io::archive golden = io::read_safetensors(path() / "golden.safetensors");
    const auto read =
        io::read_tensor<tensor<std::int64_t, models::decoder_dims::seq>>(golden.at("text." + text + ".input_ids"));
    std::vector<std::size_t> all;
    for (const std::int64_t id : read.values()) { all.push_back(static_cast<std::size_t>(id)); }
    return all;
  }
  // Sets a key of config.json.
  void set(const std::string& key, const nlohmann::json& value) const {
    nlohmann::json config = io::read_json(path() / "config.json");
    config[key] = value;
    write("config.json", config.dump());
  }

 private:
  static io::stored_array flat(io::stored_array array) {
    array.extents = {array.bytes.size() / sizeof(double)};
    return array;
  }
};
constexpr const char* texts[] = {"0", "1", "2", "3"};

// The largest difference of the features from those in float64.
template <class Model>
double error_of(const Model& m, const sentence_folder& files) {
  double most = 0;
  for (const std::string k : texts) {
    std::vector<typename Model::token> text;
    for (const std::size_t id : files.ids(k)) { text.emplace_back(id); }
    const auto expected = files.numbers("text." + k + ".last_hidden_f64");
    auto caches = m.start(text.size());
    const auto found = m.features(text, caches);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double error = std::abs(static_cast<double>(found.values()[i]) - expected[i]);
      REQUIRE(std::isfinite(error));
      most = std::max(most, error);
    }
  }
  return most;
}
template <class Weights>
double error_with(const char* name) {
  const sentence_folder files(name);
  return error_of(models::read_decoder<models::decoder_dims, Weights>(files.path()), files);
}

}  // namespace

TEST_CASE("decoders without the causal mask have the features in float64") {
  for (const char* name : {"embeddinggemma", "qwen2-not-causal"}) {
    CAPTURE(name);
    const sentence_folder files(name);
    const auto m = models::read_decoder(files.path());
    // Rounding of float32 at features below 4.
    CHECK(error_of(m, files) < 5e-5);
    {
      const plain_loops by_reference;
      CHECK(error_of(m, files) < 5e-5);
    }
    // bfloat16 has 8 bits of precision, blocks of 8 bits have steps of 1/254 of their largest number; 15 products in
    // turn add up to 0.2 to 0.45 at features below 4. They are stored in low precision, so they differ.
    CHECK(error_with<bfloat16>(name) < 0.8);
    CHECK(error_with<bfloat16>(name) > 1e-4);
    CHECK(error_with<nn::int8_blocks>(name) < 0.8);
    CHECK(error_with<nn::int8_blocks>(name) > 1e-4);
  }
}

TEST_CASE("modules make the vectors in float64 of the features of a decoder") {
  using encoder = models::encoder<>;
  for (const char* name : {"embeddinggemma", "qwen2-not-causal"}) {
    CAPTURE(name);
    const sentence_folder files(name);
    const auto settings = models::read_sentence_settings(files.path());
    const auto m = models::read_decoder(settings.transformer);
    const auto modules = models::read_vector_modules(settings, m.config.d_model);
    for (const std::string k : texts) {
      std::vector<token> text;
      for (const std::size_t id : files.ids(k)) { text.emplace_back(id); }
      auto caches = m.start(text.size());
      const auto x = m.features(text, caches);
      const encoder::features_type one(x.values(), encoder::batch{1}, encoder::seq{text.size()},
                                       encoder::d_model{m.config.d_model});
      const tensor<int, encoder::batch> lengths({static_cast<int>(text.size())}, encoder::batch{1});
      const auto vector = modules(encoder::pooled(one, lengths, settings.how));
      const auto expected = files.numbers("text." + k + ".vector");
      REQUIRE(vector.size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        // Numbers of a vector of length 1, with the relative error of the features.
        CHECK(std::abs(static_cast<double>(vector.values()[i]) - expected[i]) < 2e-5);
      }
    }
  }
  CHECK(models::read_sentence_settings(sentence_folder("embeddinggemma").path()).prompts.at("query") ==
        "task: search result | query: ");
}

TEST_CASE("each convention of bidirectional decoders changes the features") {
  const auto changed = [](const char* name, const char* key, const nlohmann::json& value) {
    const sentence_folder files(name);
    files.set(key, value);
    return error_of(models::read_decoder(files.path()), files);
  };
  CHECK(changed("embeddinggemma", "use_bidirectional_attention", false) > 0.1);
  CHECK(changed("embeddinggemma", "sliding_window", 6) < 5e-5);  // half of it is 3 on each side, as of 7
  CHECK(changed("embeddinggemma", "sliding_window", 8) > 0.01);
  CHECK(changed("embeddinggemma", "sliding_window", 5) > 0.01);
  CHECK(changed("qwen2-not-causal", "is_causal", true) > 0.1);
  CHECK(changed("qwen2-not-causal", "sliding_window", 2) > 0.01);
  CHECK(changed("qwen2-not-causal", "sliding_window", 4) > 0.01);
}

TEST_CASE("a model of a class without an output has features alone") {
  const sentence_folder files("qwen2-not-causal");
  const auto m = models::read_decoder(files.path());
  CHECK(m.output.map.empty());
  auto caches = m.start(4);
  CHECK(message([&] { (void)m.next(std::vector<token>{token{2}}, caches); }) ==
        "logits: the checkpoint is of a model without an output, which has features alone");
  for (const char* kind : {"Qwen2ForCausalLM", "GPT2LMHeadModel"}) {
    files.set("architectures", {kind});
    CHECK(message([&] { (void)models::read_decoder(files.path()); }).find("\"lm_head.weight\" is missing") !=
          std::string::npos);
  }
}

TEST_CASE("a bidirectional decoder reads a whole text at once") {
  const sentence_folder files("embeddinggemma");
  const auto m = models::read_decoder(files.path());
  std::vector<token> text;
  for (const std::size_t id : files.ids("2")) { text.emplace_back(id); }
  auto caches = m.start(64);
  (void)m.features(std::span(text).first(3), caches);
  CHECK(message([&] { (void)m.features(text, caches); }) ==
        "features: attention is bidirectional, and the caches hold the keys of 3 tokens; a whole text in one call was "
        "expected");
  CHECK_THROWS_AS((void)m.features(text, caches), origin_error);
  CHECK_THROWS_AS((void)m.next(text, caches), origin_error);
}

TEST_CASE("inspect and the readers agree on the direction of attention") {
  const sentence_folder files("qwen2-not-causal");
  const auto inspected = [&] { return models::inspect(files.path()); };
  CHECK(inspected().architecture == "Qwen 2, Qwen 2.5 (qwen2), a decoder with bidirectional attention");
  CHECK(inspected().rejected.empty());
  CHECK(models::inspect(sentence_folder("embeddinggemma").path()).rejected.empty());

  files.set("is_causal", nullptr);
  const std::string custom =
      "auto_map.AutoModel names code of the folder, which is not read; is_causal was expected beside it, which is "
      "false for bidirectional attention";
  CHECK(inspected().rejected == std::vector<std::string>{custom});
  CHECK(message([&] { models::expect_known_direction(io::config_check(files / "config.json")); }).find(custom) !=
        std::string::npos);
  // The model itself is known: its code makes vectors alone.
  CHECK(message([&] { (void)models::read_decoder(files.path()); }).empty());

  files.set("is_causal", true);
  files.set("use_bidirectional_attention", true);
  CHECK(inspected().rejected ==
        std::vector<std::string>{"use_bidirectional_attention is true, the model's type has false"});
  files.set("use_bidirectional_attention", "all");
  CHECK(inspected().rejected ==
        std::vector<std::string>{R"(use_bidirectional_attention is "all", true or false was expected)"});
}
