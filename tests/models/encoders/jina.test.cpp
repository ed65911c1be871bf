// tests/models/encoders/jina.test.cpp -- XLM-RoBERTa with rotary positions and adapters (jina-embeddings-v3): features
// and scores against float64, each convention that changes them, and settings and arrays that are not read.
// SPDX-License-Identifier: BSL-1.0
#include "models/encoders/float64.hpp"
#include <dimwise/models/inspect.hpp>

#include <string>
#include <utility>

using namespace dimwise;
using dimwise_test::error_of;

namespace {

struct case_of_jina {
  const char* name;
  const char* adapter;
};
constexpr case_of_jina cases[] = {{"jina", ""},
                                  {"jina-retrieval.query", "retrieval.query"},
                                  {"jina-text-matching", "text-matching"},
                                  {"xlm-roberta-rotary", ""},
                                  {"xlm-roberta-rotary-masked", ""}};

struct jina_folder : dimwise_test::encoder_folder {
  explicit jina_folder(const std::string& name) : encoder_folder(name, "jina.dwpack") {}
};
using encoder = models::encoder<>;

// The first mismatch after `change` of the arrays, which the adapter of queries needs.
template <class Change>
std::string told_after(const Change& change) {
  const jina_folder files("jina");
  auto arrays = io::read_safetensors(files / "model.safetensors");
  std::vector<io::stored_array> changed(arrays.arrays());
  std::erase_if(changed, [&](io::stored_array& a) { return !change(a); });
  io::write_safetensors(files / "changed.safetensors", changed);
  return dimwise_test::message([&] {
    (void)models::read_encoder(io::config_check(files / "config.json"),
                               io::read_safetensors(files / "changed.safetensors"), models::encoder_task::features,
                               "retrieval.query");
  });
}

}  // namespace

TEST_CASE("XLM-RoBERTa with rotary positions and adapters has the features and scores in float64") {
  for (const case_of_jina& one : cases) {
    CAPTURE(one.name);
    const jina_folder files(one.name);
    const auto m = files.read(one.adapter);
    // Rounding of float32 at features and scores below 6, by kernels and by the reference implementation.
    CHECK(error_of(m, files) < 5e-5);
    {
      const plain_loops by_reference;
      CHECK(error_of(m, files) < 5e-5);
    }
    CHECK(error_of(m, files, 1, 2) < 5e-5);
    dimwise_test::check_low_precision(files, one.adapter);
    const auto found = models::inspect(files.path());
    CHECK(found.rejected == std::vector<std::string>());
    CHECK(found.parameters() == nn::parameter_count(m));
  }
}

TEST_CASE("an adapter changes the features, each in its own way") {
  const jina_folder files("jina-text-matching");
  for (const char* other : {"", "retrieval.query", "retrieval.passage"}) {
    CHECK(error_of(files.read(other), files) > 0.1);
  }
}

TEST_CASE("each convention of jina-embeddings-v3 changes the features") {
  const auto changed = [](const case_of_jina& one, const auto& change) {
    const jina_folder files(one.name);
    auto other = files.read(one.adapter);
    change(other);
    return error_of(other, files);
  };
  for (const case_of_jina& one : cases) {
    CAPTURE(one.name);
    CHECK(changed(one, [](encoder& m) { m.config.rotary.clear(); }) > 0.01);
    CHECK(changed(one, [](encoder& m) {
      for (auto& block : m.blocks) { std::swap(block.attention.query, block.attention.key); }
    }) > 0.01);
  }
  // The base, the scale of adapters, and the epsilon of the norms.
  for (const auto& [key, value] : {std::pair<const char*, double>{"rotary_emb_base", 500}, {"lora_alpha", 2}}) {
    const jina_folder files("jina-retrieval.query");
    files.set(key, value);
    CHECK(error_of(files.read("retrieval.query"), files) > 0.01);
  }
}

TEST_CASE("settings and adapters that are not read are rejected by name") {
  const auto told = [](const std::string& key, const nlohmann::json& value) {
    const jina_folder files("jina");
    files.set(key, value);
    return files.told();
  };
  CHECK(told("rotary_emb_base", 50.0).empty());
  CHECK(told("model_type", "xlm-roberta").empty());
  CHECK(told("lora_adaptations", nullptr).find("is missing") != std::string::npos);
  CHECK(told("lora_rank", 0).find("lora_rank is 0") == 0);
  CHECK(told("rotary_emb_dim", 4) == "rotary_emb_dim is a setting that is not read");
  CHECK(told("rotary_emb_interleaved", true).find("rotary_emb_interleaved is true") == 0);
  CHECK(told("position_embedding_type", "alibi").find("position_embedding_type is \"alibi\"") == 0);
  CHECK(told("architectures", {"BertModel"}).find("model_type") != std::string::npos);

  const jina_folder with("jina");
  CHECK(dimwise_test::message([&] {
    (void)with.read("query");
  }).find("there is no adapter \"query\"; there are retrieval.query, retrieval.passage, text-matching") !=
        std::string::npos);
  const jina_folder without("xlm-roberta-rotary");
  CHECK(dimwise_test::message([&] { (void)without.read("query"); }).ends_with("there is no adapter \"query\""));
}

TEST_CASE("arrays of adapters that do not fit are rejected by name") {
  const std::string weight = "roberta.encoder.layers.1.mlp.fc1.parametrizations.weight.";
  CHECK(told_after([](io::stored_array&) { return true; }).empty());
  CHECK(told_after([&](io::stored_array& a) { return a.name != weight + "0.lora_B"; }).find("0.lora_B") !=
        std::string::npos);
  CHECK(told_after([&](io::stored_array& a) {
    if (a.name == weight + "0.lora_A") { a.extents = {3, 24, 2}; }
    return true;
  }).ends_with("F32 [3, 24, 2] does not fit: F32 or BF16 [3, 2, 24] was expected"));
  CHECK(told_after([&](io::stored_array& a) {
    if (a.name == weight + "original") { a.extents = {32 * 24}; }
    return true;
  }).ends_with("[768] has adapters, but [rows, columns] was expected"));
}
