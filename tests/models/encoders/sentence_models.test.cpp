// tests/models/encoders/sentence_models.test.cpp -- static embeddings, and Dense and Normalize after a pooling or an
// embedding.
//
// The ids and vectors of tests/data/sentence_data.py are computed in float64 without the library.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/encoders.hpp>
#include <dimwise/models/sentence/static_embedding.hpp>
#include <dimwise/models/sentence/vector_modules.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace dimwise;
using dimwise_test::message;

namespace {

// A case of sentences.dwpack as a folder, with its golden numbers.
struct sentence_case : dimwise_test::pack_folder {
  explicit sentence_case(const std::string& name) : pack_folder(name + "/", "sentences.dwpack") {}
  [[nodiscard]] io::archive golden() const { return io::read_safetensors(path() / "golden.safetensors"); }
  [[nodiscard]] models::sentence_settings settings() const { return models::read_sentence_settings(path()); }
  // The vectors of all texts by the modules after `pooled`.
  template <class Id, class Pooled>
  void compare(std::size_t features, const Pooled& pooled, double bound) const {
    const io::archive expected = golden();
    const auto modules = models::read_vector_modules(settings(), features);
    for (std::size_t k = 0; expected.find("text." + std::to_string(k) + ".vector") != nullptr; ++k) {
      CAPTURE(k);
      const auto ids = io::read_tensor<tensor<std::int64_t, models::encoder_dims::seq>>(
          expected.at("text." + std::to_string(k) + ".input_ids"));
      std::vector<Id> text;
      for (const std::int64_t id : ids.values()) { text.emplace_back(static_cast<std::size_t>(id)); }
      const auto found = modules(pooled(std::vector<std::vector<Id>>{text}));
      const auto numbers = io::read_tensor<tensor<double, models::encoder_dims::d_model>>(
          expected.at("text." + std::to_string(k) + ".vector"));
      REQUIRE(found.size() == numbers.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(std::abs(static_cast<double>(found.values()[i]) - numbers.values()[i]) < bound);
      }
    }
  }
  // What reading the modules throws after a change of this file, without the path of the folder.
  [[nodiscard]] std::string told(const std::string& file, const std::string& from, const std::string& to) const {
    const auto bytes = io::file_bytes(path() / file);
    const std::string before(reinterpret_cast<const char*>(bytes.bytes().data()), bytes.bytes().size());
    std::string after = before;
    REQUIRE(after.find(from) != std::string::npos);
    write(file, after.replace(after.find(from), from.size(), to));
    std::string said = message([&] { (void)models::read_vector_modules(settings(), 24); });
    write(file, before);
    if (const auto at = said.find(path().string() + "/"); at != std::string::npos) {
      said.erase(at, path().string().size() + 1);
    }
    return said;
  }
};
bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

using embedding = models::static_embedding;
using vectors = models::dense_layer::vectors_type;
using batch = models::encoder_dims::batch;
using d_model = models::encoder_dims::d_model;

}  // namespace

TEST_CASE("Dense and Normalize follow a pooling in any order") {
  for (const char* name : {"labse", "two-dense", "any-order"}) {
    CAPTURE(name);
    const sentence_case folder(name);
    const auto settings = folder.settings();
    const auto model = models::read_encoder(settings.transformer);
    using token = models::encoder<>::token;
    // The features of a text have up to 24 numbers of magnitude 1, of which each Dense sums up to 40: float rounds by
    // 6e-8 of the largest partial sum.
    folder.compare<token>(model.config.extents.features, [&](const std::vector<std::vector<token>>& texts) {
      const auto all = model.together(texts);
      return model.pooled(model.features(all), all.lengths, settings.how);
    }, 2e-5);
  }
}

TEST_CASE("a static embedding gives the mean of the vectors of tokens") {
  for (const char* name : {"model2vec", "model2vec-clusters", "model2vec-bytes", "static-embedding"}) {
    CAPTURE(name);
    const sentence_case folder(name);
    const auto settings = folder.settings();
    CHECK(settings.is_static);
    const embedding model = models::read_static_embedding(settings.transformer);
    CHECK(model.tokens() == 24);
    CHECK(model.features() == 10);
    CHECK(model.is_model2vec == (std::string(name) != "static-embedding"));
    // A mean of up to 512 numbers below 4 in float.
    folder.compare<embedding::token>(model.features(), [&](const std::vector<std::vector<embedding::token>>& texts) {
      return model.vectors(texts);
    }, 2e-6);
  }
}

TEST_CASE("a text without tokens has a vector of zeros, and an unknown id is rejected") {
  const sentence_case plain("model2vec");
  const sentence_case clusters("model2vec-clusters");
  using text_list = std::vector<std::vector<embedding::token>>;
  for (const auto* folder : {&plain, &clusters}) {
    const embedding model = models::read_static_embedding(folder->path());
    const auto zero = models::normalize_layer()(model.vectors(text_list{{}}));
    for (const float x : zero.values()) { CHECK(x == 0); }
    CHECK_THROWS_AS((void)model.vectors(text_list{{embedding::token{24}}}), index_error);
  }
}

TEST_CASE("Normalize rejects vectors without a finite length") {
  for (const float wrong : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 1e30F}) {
    const vectors x({1, 2, wrong, 4}, batch{2}, d_model{2});
    CHECK(message([&] { (void)models::normalize_layer()(x); }) ==
          "Normalize: the length of vector 1 is infinite or NaN");
  }
}

TEST_CASE("a Dense that does not fit is rejected with its file and what was expected") {
  const sentence_case folder("any-order");
  const std::string file = "3_Dense/config.json";
  CHECK(folder.told(file, "\"in_features\": 24", "\"in_features\": 32") ==
        "3_Dense/config.json: the settings do not fit the model:\n  in_features is 32, but the module before it gives "
        "24 features");
  CHECK(folder.told("4_Dense/config.json", "\"in_features\": 40", "\"in_features\": 24") ==
        "4_Dense/config.json: the settings do not fit the model:\n  in_features is 24, but the module before it gives "
        "40 features");
  CHECK(has(folder.told(file, "activation.GELU", "activation.ELU"),
            "activation_function is \"torch.nn.modules.activation.ELU\"; the classes of torch.nn that are read are "
            "Identity, Tanh, ReLU, GELU, SiLU, Sigmoid"));
  CHECK(has(folder.told(file, "torch.nn", "my"), "activation_function is \"my.modules.activation.GELU\""));
  CHECK(has(folder.told(file, "\"bias\": true", "\"module_input_name\": \"token_embeddings\""),
            "module_input_name is \"token_embeddings\", the model's type has sentence_embedding"));
  CHECK(has(folder.told(file, "\"in_features\"", "\"inputs\""), "in_features is missing"));
  CHECK(has(folder.told(file, "\"bias\": true", "\"bias\": false"), "\"linear.bias\" (F32 [40]) is not expected"));
  CHECK(
      has(folder.told(file, "\"out_features\": 40", "\"out_features\": 41"),
          "\"linear.weight\" (F32 [40, 24]) does not fit map.weight (d_dense[41] d_model[24]), which needs [41, 24]"));
  CHECK(has(folder.told("3_Dense/model.safetensors", "linear.weight", "linear.matrix"),
            "\"linear.weight\" is missing: map.weight (d_dense[40] d_model[24]) needs [40, 24]"));
  CHECK(has(folder.told("6_Dense/model.safetensors", "residual.weight", "residual.matrix"),
            "\"residual.weight\" is missing"));
  std::filesystem::remove(folder / "3_Dense/model.safetensors");
  folder.write("3_Dense/pytorch_model.bin", "PK");
  CHECK(
      message([&] { (void)models::read_vector_modules(folder.settings(), 24); }) ==
      (folder / "3_Dense").string() +
          ": model.safetensors or model.safetensors.index.json was expected; pytorch_model.bin is not read: write its "
          "arrays by safetensors.torch.save_file");
}

TEST_CASE("a static embedding that does not fit is rejected with its file and what was expected") {
  const auto told = [](std::initializer_list<io::stored_array> arrays) {
    io::archive weights("file");
    for (const auto& a : arrays) { weights.add(a); }
    return message([&] { (void)models::read_static_embedding(weights); });
  };
  const std::vector<std::byte> zeros(96);
  const auto array = [&](const char* name, io::element_type type, std::vector<std::size_t> extents) {
    const std::size_t bytes = io::bytes_of(type, io::count_of(extents).value()).value();
    return io::stored_array{name, type, std::move(extents), std::span(zeros).first(bytes)};
  };
  using io::element_type;
  const auto table = array("embeddings", element_type::f32, {4, 3});
  CHECK(told({}) == "file: \"embeddings\" of Model2Vec or \"embedding.weight\" of a StaticEmbedding was expected");
  CHECK(told({array("embeddings", element_type::f32, {4})}) ==
        "file: \"embeddings\" has the extents [4], those of tokens and features were expected");
  CHECK(has(told({table, array("weights", element_type::f32, {5})}),
            "\"weights\" (F32 [5]) does not fit weights.0 (vocab[4]), which needs [4]"));
  CHECK(has(told({array("embedding.weight", element_type::f32, {4, 3}), array("weights", element_type::f32, {4})}),
            "\"weights\" (F32 [4]) is not expected"));
  CHECK(
      has(told({array("embeddings", element_type::i64, {4, 3})}), "\"embeddings\" (I64 [4, 3]) cannot be read as F32"));
  CHECK(has(told({table, array("mapping", element_type::f32, {4})}), "file: \"mapping\" (F32 [4]) "));
  CHECK(has(told({table, array("mapping", element_type::i32, {4, 1})}), "file: \"mapping\" (I32 [4, 1]) has 2 axes"));
  CHECK(told({table, array("mapping", element_type::i32, {5})}).empty());
  std::int64_t four = 4;
  const auto bytes = std::as_bytes(std::span(&four, 1));
  CHECK(told({table, {"mapping", element_type::i64, {1}, bytes}}) ==
        "file: \"mapping\" has 4, \"embeddings\" has 4 rows");
  four = -1;
  CHECK(has(told({table, {"mapping", element_type::i64, {1}, bytes}}), "file: \"mapping\" has -1"));
}
