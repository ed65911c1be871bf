// tests/models/encoders/sentence_settings.test.cpp -- what a folder of sentence-transformers says of texts and their
// vectors.
// SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include <dimwise/models/sentence_settings.hpp>

#include <doctest/doctest.h>

#include <tuple>

using namespace dimwise;
using models::sentence_settings;

namespace {

std::string module(const std::string& path, const std::string& type) {
  return R"({"idx": 0, "name": "0", "path": ")" + path + R"(", "type": ")" + type + "\"}";
}
const std::string transformer = module("", "sentence_transformers.models.Transformer");

// A folder with a pooling in 1_Pooling and another, stale or not, in 2_Pooling.
struct sentence_folder : dimwise_test::temporary_folder {
  sentence_folder() {
    write("config.json", R"({"hidden_size": 24})");
    for (const char* name : {"1_Pooling", "2_Pooling"}) { std::filesystem::create_directory(path() / name); }
    pooling(R"("pooling_mode_mean_tokens": true)");
    write("2_Pooling/config.json", R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false})");
    modules("1_Pooling");
  }
  void modules(const std::string& path, const std::string& type = "sentence_transformers.models.Pooling") const {
    write("modules.json", "[" + transformer + "," + module(path, type) + "]");
  }
  void pooling(const std::string& settings) const {
    write("1_Pooling/config.json", "{\"word_embedding_dimension\": 24, " + settings + "}");
  }
  [[nodiscard]] sentence_settings read() const { return models::read_sentence_settings(path()); }
  [[nodiscard]] std::string told() const {
    const std::string said = dimwise_test::message([&] { (void)read(); });
    const std::string place = path().string() + "/";
    return said.starts_with(place) ? said.substr(place.size()) : said;
  }
};
constexpr auto mean = sentence_settings::pooling::mean;
constexpr auto first = sentence_settings::pooling::first;

}  // namespace

TEST_CASE("modules.json says which pooling is read") {
  const sentence_folder folder;
  CHECK(folder.read().how == mean);
  folder.modules("2_Pooling");
  CHECK(folder.read().how == first);
  folder.modules("3_Pooling");
  CHECK(folder.told() == "modules.json: it lists the module Pooling, and " +
                             (folder / "3_Pooling/config.json").string() + " is missing");
  folder.modules("../3_Pooling");
  CHECK(folder.told() ==
        "modules.json: the path of the module sentence_transformers.models.Pooling leads out of the "
        "folder: \"../3_Pooling\"");
  std::filesystem::remove(folder / "modules.json");
  CHECK(folder.read().how == mean);
  std::filesystem::remove_all(folder / "1_Pooling");
  CHECK(folder.read().how == mean);
}

TEST_CASE("the modules are Transformer and Pooling, or StaticEmbedding, and then Dense and Normalize in any order") {
  const sentence_folder folder;
  const std::string pooling = module("1_Pooling", "sentence_transformers.models.Pooling");
  const std::string normalize = module("2_Normalize", "sentence_transformers.models.Normalize");
  const std::string dense = module("2_Dense", "sentence_transformers.models.Dense");
  const std::string embedding = module("0_StaticEmbedding", "sentence_transformers.models.StaticEmbedding");
  const auto told = [&](const std::string& list) {
    folder.write("modules.json", "[" + list + "]");
    return folder.told();
  };
  CHECK(told(transformer + "," + pooling + "," + normalize).empty());
  CHECK(told(transformer + "," + pooling + "," + dense + "," + normalize + "," + dense).empty());
  const auto modules = folder.read().modules;
  REQUIRE(modules.size() == 3);
  CHECK_FALSE(modules[0].normalizes);
  CHECK(modules[0].folder == folder / "2_Dense");
  CHECK(modules[1].normalizes);
  CHECK_FALSE(modules[2].normalizes);
  CHECK_FALSE(folder.read().is_static);
  CHECK(told(transformer + "," + pooling).empty());
  CHECK(folder.read().modules.empty());
  CHECK(told(module("", "sentence_transformers.base.modules.transformer.Transformer") + "," +
             module("1_Pooling", "sentence_transformers.sentence_transformer.modules.pooling.Pooling") + "," +
             module("2_Dense", "sentence_transformers.base.modules.dense.Dense"))
            .empty());
  const std::string known = ", Transformer, Pooling, StaticEmbedding, Dense or Normalize was expected";
  CHECK(told(module("", "custom_st.Transformer") + "," + pooling) ==
        "modules.json: a module is \"custom_st.Transformer\"" + known);
  folder.write("config.json", R"({"hidden_size": 24, "lora_adaptations": ["retrieval.query"]})");
  CHECK(told(module("", "custom_st.Transformer") + "," + pooling).empty());
  CHECK(told(module("", "other.Transformer") + "," + pooling) ==
        "modules.json: a module is \"other.Transformer\"" + known);
  folder.write("config.json", R"({"hidden_size": 24})");
  CHECK(told(transformer + "," + module("1_Dense", "pylate.models.Dense.Dense")) ==
        "modules.json: a module is \"pylate.models.Dense.Dense\"" + known);
  const std::string expected = "modules.json: Transformer and Pooling, or StaticEmbedding, were expected, it lists ";
  CHECK(told(transformer) == expected + "1 modules");
  CHECK(told("") == expected + "0 modules");
  for (const std::string& list :
       {pooling + "," + transformer, transformer + "," + normalize + "," + pooling,
        transformer + "," + pooling + "," + pooling, embedding + "," + pooling, dense, embedding + "," + embedding}) {
    CHECK(told(list).find("the order Transformer and Pooling, or StaticEmbedding, and then Dense and Normalize was "
                          "expected") != std::string::npos);
  }
  CHECK(told(transformer + R"(,{"type": "sentence_transformers.models.Pooling"})").ends_with("has no path"));
  CHECK(told(transformer + ", 7").find("a module is \"\"") != std::string::npos);
  std::filesystem::create_directory(folder / "2_Normalize");
  folder.write("2_Normalize/config.json", R"({"module_input_name": "token_embeddings"})");
  CHECK(told(transformer + "," + pooling + "," + normalize).find("module_input_name is \"token_embeddings\"") !=
        std::string::npos);
  folder.write("modules.json", "{}");
  CHECK(folder.told() == "modules.json: a list of modules was expected");
}

TEST_CASE("a folder of Model2Vec has a static embedding, and Normalize if config.json says so") {
  const sentence_folder folder;
  const std::string embedding = module(".", "sentence_transformers.models.StaticEmbedding");
  folder.write("modules.json", "[" + embedding + "]");
  CHECK(folder.read().is_static);
  CHECK(folder.read().transformer == folder.path());
  CHECK(folder.read().modules.empty());
  folder.write("config.json", R"({"normalize": true})");
  CHECK(folder.read().modules.size() == 1);
  const std::string normalize = module("1_Normalize", "sentence_transformers.models.Normalize");
  folder.write("modules.json", "[" + embedding + "," + normalize + "]");
  CHECK(folder.read().modules.size() == 1);
  std::filesystem::remove(folder / "modules.json");
  CHECK_FALSE(folder.told().empty());  // the config.json of a transformer
  folder.write("config.json", R"({"model_type": "model2vec", "normalize": true})");
  CHECK(folder.read().is_static);
  CHECK(folder.read().modules.size() == 1);
  folder.write("config.json", R"({"model_type": "model2vec", "normalize": 1})");
  CHECK(folder.told().find("normalize is 1, true or false was expected") != std::string::npos);
  // Older folders name no model_type.
  folder.write("config.json", R"({"normalize": false})");
  folder.write("model.safetensors", dimwise_test::safetensors_bytes(
                                        R"({"embeddings":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}})", 4));
  CHECK(folder.read().is_static);
  CHECK(folder.read().modules.empty());
}

TEST_CASE("config_sentence_transformers.json says how vectors are compared and truncated") {
  const sentence_folder folder;
  const std::string file = "config_sentence_transformers.json";
  using models::similarity_kind;
  CHECK(folder.read().similarity == similarity_kind::cosine);
  CHECK_FALSE(folder.read().dimensions);
  for (const auto& [name, kind] :
       {std::pair("cosine", similarity_kind::cosine), std::pair("dot", similarity_kind::dot),
        std::pair("euclidean", similarity_kind::euclidean), std::pair("manhattan", similarity_kind::manhattan)}) {
    folder.write(file, std::string(R"({"similarity_fn_name": ")") + name + R"(", "truncate_dim": 8})");
    CHECK(folder.read().similarity == kind);
    CHECK(folder.read().dimensions == std::size_t{8});
  }
  folder.write(file, R"({"similarity_fn_name": null, "truncate_dim": null})");
  CHECK(folder.read().similarity == similarity_kind::cosine);
  folder.write(file, R"({"similarity_fn_name": "maxsim"})");
  CHECK(folder.told().find("similarity_fn_name is \"maxsim\", the model's type has cosine or dot or euclidean or "
                           "manhattan") != std::string::npos);
  folder.write(file, R"({"truncate_dim": 0})");
  CHECK(folder.told().find("truncate_dim is 0") != std::string::npos);
}

TEST_CASE("a transformer may be in a folder of its own") {
  const sentence_folder folder;
  std::filesystem::create_directory(folder / "0_Transformer");
  folder.write("0_Transformer/config.json", R"({"hidden_size": 32})");
  folder.write("modules.json", "[" + module("0_Transformer", "sentence_transformers.models.Transformer") + "," +
                                   module("1_Pooling", "sentence_transformers.models.Pooling") + "]");
  CHECK(folder.told() == "1_Pooling/config.json: word_embedding_dimension is 24, but hidden_size is 32");
  folder.write("0_Transformer/config.json", R"({"hidden_size": 24})");
  CHECK(folder.read().transformer == folder / "0_Transformer");
}

TEST_CASE("a pooling is said by one mode, or by flags") {
  const sentence_folder folder;
  const auto how = [&](const std::string& settings) {
    folder.pooling(settings);
    return folder.read().how;
  };
  CHECK(how(R"("pooling_mode": "mean")") == mean);
  CHECK(how(R"("pooling_mode": "cls")") == first);
  CHECK(how(R"("pooling_mode": ["cls"], "embedding_dimension": 24)") == first);
  CHECK(how(R"("pooling_mode": "cls", "pooling_mode_mean_tokens": true)") == first);
  CHECK(how(R"("pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false)") == first);
  CHECK(folder.read().pools_prompt);
  CHECK(how(R"("pooling_mode": "mean", "include_prompt": false)") == mean);
  CHECK_FALSE(folder.read().pools_prompt);
  const auto told = [&](const std::string& settings) {
    folder.pooling(settings);
    return folder.told().substr(std::string("1_Pooling/config.json: ").size());
  };
  using pooling = sentence_settings::pooling;
  for (const auto& [mode, flag, expected] :
       {std::tuple("max", "max_tokens", pooling::max),
        std::tuple("mean_sqrt_len_tokens", "mean_sqrt_len_tokens", pooling::mean_sqrt),
        std::tuple("weightedmean", "weightedmean_tokens", pooling::weighted_mean),
        std::tuple("lasttoken", "lasttoken", pooling::last)}) {
    CHECK(how(std::string("\"pooling_mode\": \"") + mode + "\"") == expected);
    CHECK(how(std::string("\"pooling_mode_") + flag + "\": true") == expected);
  }
  const std::string modes = ", cls, max, mean, mean_sqrt_len_tokens, weightedmean or lasttoken was expected";
  CHECK(told(R"("pooling_mode": "min")") == "pooling_mode is \"min\"" + modes);
  CHECK(told(R"("pooling_mode": 1)") == "pooling_mode is \"1\"" + modes);
  const std::string two =
      "it concatenates 2 poolings, whose vectors have 2 times hidden_size features: one pooling was expected";
  CHECK(told(R"("pooling_mode": ["cls", "mean"])") == two);
  CHECK(told(R"("pooling_mode": "mean", "embedding_dimension": 32)") ==
        "embedding_dimension is 32, but hidden_size is 24");
  const std::string one = "pooling_mode, or one of the flags pooling_mode_…, was expected";
  CHECK(told(R"("hidden_size": 24)") == one);
  CHECK(told(R"("pooling_mode": [])") == one);
  CHECK(told(R"("pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true)") == two);
  CHECK(told(R"("pooling_mode_mean_tokens": 1)").find("pooling_mode_mean_tokens is 1") != std::string::npos);
}

TEST_CASE("texts are truncated and lower-cased as sentence_bert_config.json says") {
  const sentence_folder folder;
  CHECK_FALSE(folder.read().most_tokens);
  CHECK_FALSE(folder.read().lower_case);
  folder.write("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})");
  CHECK_FALSE(folder.read().most_tokens);
  folder.write("tokenizer_config.json", R"({"model_max_length": 512})");
  CHECK(folder.read().most_tokens == std::size_t{512});
  folder.write("sentence_bert_config.json", R"({"max_seq_length": null, "do_lower_case": true})");
  CHECK(folder.read().most_tokens == std::size_t{512});
  CHECK(folder.read().lower_case);
  folder.write("sentence_bert_config.json", R"({"max_seq_length": 128, "do_lower_case": false})");
  CHECK(folder.read().most_tokens == std::size_t{128});
  for (const char* settings : {R"({"max_seq_length": 0})", R"({"max_seq_length": -1})", R"({"do_lower_case": 1})",
                               R"({"transformer_task": "fill-mask"})", R"({"module_output_name": "scores"})",
                               R"({"processing_kwargs": {"text": {"truncation": false}}})"}) {
    folder.write("sentence_bert_config.json", settings);
    CHECK(folder.told().starts_with("sentence_bert_config.json: "));
  }
  folder.write("sentence_bert_config.json", R"({"transformer_task": "feature-extraction", "processing_kwargs": {}})");
  CHECK(folder.told().empty());
}

TEST_CASE("prompts have names, and one may come before every text") {
  const sentence_folder folder;
  const std::string file = "config_sentence_transformers.json";
  folder.write(file, R"({"prompts": {"query": "query: ", "document": ""}, "default_prompt_name": null})");
  CHECK_FALSE(folder.read().default_prompt);
  CHECK(folder.read().prompts.at("query") == "query: ");
  folder.write(file, R"({"prompts": {"query": "query: "}, "default_prompt_name": "query"})");
  CHECK(folder.read().default_prompt == "query");
  folder.write(file, R"({"prompts": {"query": "query: "}, "default_prompt_name": "passage"})");
  CHECK(folder.told().find("default_prompt_name is \"passage\", which prompts does not have") != std::string::npos);
  folder.write(file, R"({"prompts": {"query": 7}})");
  CHECK(folder.told().find("the prompt \"query\" is \"7\", a text was expected") != std::string::npos);
  folder.write(file, R"({"model_type": "SparseEncoder"})");
  CHECK(folder.told().find("model_type is \"SparseEncoder\"") != std::string::npos);
}

TEST_CASE("families name the number of features by other keys") {
  const sentence_folder folder;
  folder.pooling(R"("pooling_mode_cls_token": true)");
  for (const char* key : {"dim", "n_embd", "d_model"}) {
    folder.write("config.json", std::string("{\"") + key + "\": 24}");
    CHECK(folder.read().how == first);
    folder.write("config.json", std::string("{\"") + key + "\": 32}");
    CHECK(folder.told().find("word_embedding_dimension is 24, but hidden_size is 32") != std::string::npos);
  }
}
