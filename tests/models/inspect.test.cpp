// tests/models/inspect.test.cpp -- what folders and files hold: parameters, dimensions by name, groups of layers, and
// why a folder would be rejected.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/inspect.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

using namespace dimwise;

namespace {

const models::inspected_array& find(const models::inspection& found, const std::string& name) {
  const auto at =
      std::find_if(found.arrays.begin(), found.arrays.end(), [&](const auto& array) { return array.name == name; });
  REQUIRE(at != found.arrays.end());
  return *at;
}
bool says(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const auto& line) { return line.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("every folder of the conformance suite is read, and its parameters are counted") {
  for (const char* suite :
       {"architectures_decoders.dwpack", "architectures_encoders.dwpack", "architectures_encoder_decoders.dwpack"}) {
    const dimwise_test::pack data(dimwise_test::data_file(suite));
    for (const auto& entry : data.manifest().at("cases")) {
      const std::string name = entry.at("name");
      CAPTURE(name);
      const dimwise_test::model_folder folder(name, suite);
      const models::inspection found = models::inspect(folder.path());
      CHECK(found.rejected == std::vector<std::string>());
      CHECK_FALSE(found.architecture.empty());
      // Arrays beside the parameters are heads that are not read.
      std::size_t all = 0;
      for (const auto& a : found.arrays) { all += a.elements; }
      const std::string tags = entry.at("tags").dump();
      const bool extra = tags.find("extra") != std::string::npos || tags.find("pooler") != std::string::npos;
      CHECK((found.parameters() == all || (extra && found.parameters() < all)));
      CHECK(found.parameters() > 0);
      CHECK(grouped(found.arrays).size() < 80);
    }
  }
}

TEST_CASE("arrays have the dimensions of the parameters that are read from them") {
  const dimwise_test::model_folder folder("t5-gated", "architectures_encoder_decoders.dwpack");
  const auto found = models::inspect(folder.path());
  CHECK(found.architecture == "T5, T5 1.1, FLAN-T5 (t5), an encoder-decoder");
  CHECK(find(found, "shared.weight").dimensions == "vocab[80] d_embed[32]");
  CHECK(find(found, "decoder.block.1.layer.1.EncDecAttention.o.weight").dimensions == "d_model[32] (heads[3] d_v[8])");
  CHECK(find(found, "lm_head.weight").type == io::element_type::f32);
  CHECK(found.bytes() == 4 * found.parameters());
  CHECK(found.vocabulary() == 80);
  const auto setting = std::find_if(found.settings.begin(), found.settings.end(),
                                    [](const auto& one) { return one.first == "feed_forward_proj"; });
  REQUIRE(setting != found.settings.end());
  CHECK(setting->second == "\"gated-gelu\"");

  const dimwise_test::model_folder fused("phi3", "architectures_decoders.dwpack");
  const auto words = find(models::inspect(fused.path()), "model.layers.0.self_attn.qkv_proj.weight").dimensions;
  CHECK(words.find("part 0 of 3 + ") != std::string::npos);
  CHECK(words.find("part 2 of 3") != std::string::npos);
}

TEST_CASE("folders of sentence-transformers and Model2Vec have the arrays of all modules") {
  const dimwise_test::pack_folder dense("two-dense/", "sentences.dwpack");
  const auto found = models::inspect(dense.path());
  CHECK(found.architecture == "bert, an encoder");
  CHECK(found.rejected.empty());
  CHECK(find(found, "2_Dense/linear.weight").dimensions == "d_dense[40] d_model[24]");
  CHECK(find(found, "3_Dense/linear.weight").dimensions == "d_dense[16] d_model[40]");
  CHECK(found.vocabulary() == 24);
  dense.write("3_Dense/config.json", R"({"in_features": 40, "out_features": 17, "bias": false})");
  CHECK(says(models::inspect(dense.path()).rejected,
             "3_Dense/\"linear.weight\" (F32 [16, 40]) does not fit map.weight (d_dense[17] d_model[40])"));
  dense.write("3_Dense/config.json", R"({"in_features": 24, "out_features": 16, "bias": false})");
  CHECK(says(models::inspect(dense.path()).rejected, "in_features is 24, but the module before it gives 40 features"));
  dense.write("3_Dense/config.json", R"({"in_features": 40, "out_features": "x"})");
  CHECK(models::inspect(dense.path()).rejected ==
        std::vector<std::string>{(dense / "3_Dense/config.json").string() +
                                 ": out_features is \"x\", a whole number from 1 was expected"});
  dense.write("modules.json", "[]");
  const auto unknown = models::inspect(dense.path());
  CHECK(unknown.rejected ==
        std::vector<std::string>{(dense / "modules.json").string() +
                                 ": Transformer and Pooling, or StaticEmbedding, were expected, it lists 0 modules"});
  CHECK_FALSE(unknown.arrays.empty());

  const dimwise_test::pack_folder clusters("model2vec-clusters/", "sentences.dwpack");
  const auto halves = models::inspect(clusters.path());
  CHECK(halves.architecture == "model2vec, a static embedding");
  CHECK(halves.rejected.empty());
  CHECK(find(halves, "embeddings").dimensions == "clusters[7] d_model[10]");
  CHECK(find(halves, "mapping").dimensions == "vocab[24]");
  CHECK(halves.vocabulary() == 24);
  CHECK(halves.text_folder == clusters.path());

  const dimwise_test::pack_folder inner("static-embedding/", "sentences.dwpack");
  const auto table = models::inspect(inner.path());
  CHECK(table.architecture == "StaticEmbedding, a static embedding");
  CHECK(table.rejected.empty());
  CHECK(table.settings.empty());
  CHECK(find(table, "embedding.weight").dimensions == "vocab[24] d_model[10]");
  CHECK(table.text_folder == inner / "0_StaticEmbedding");
  inner.write("modules.json", "{}");
  CHECK(models::inspect(inner.path()).rejected ==
        std::vector<std::string>{(inner / "modules.json").string() + ": a list of modules was expected"});
}

TEST_CASE("the clusters of tokens are no parameters") {
  const std::vector<std::byte> zeros(32);
  io::archive weights("file");
  weights.add({"embeddings", io::element_type::f32, {2, 3}, std::span(zeros).first(24)});
  weights.add({"mapping", io::element_type::i64, {4}, std::span(zeros)});
  weights.add({"weights", io::element_type::f32, {4}, std::span(zeros).first(16)});
  models::inspection found;
  models::detail::add_arrays(found, weights);
  CHECK(models::detail::inspect_static_embedding(found, weights) == 3);
  CHECK(found.parameters() == 10);
  CHECK(found.vocabulary() == 4);
}

TEST_CASE("names that differ in numbers are one group") {
  const auto array = [](const std::string& name, const std::string& dimensions = "d_model[4]") {
    return models::inspected_array{name, dimensions, io::element_type::f32, 4, true};
  };
  std::vector<models::inspected_array> arrays{array("wte")};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t e = 0; e < 2; ++e) {
      arrays.push_back(array("h." + std::to_string(i) + ".e." + std::to_string(e) + ".w"));
    }
  }
  arrays.push_back(array("h.0.b"));
  arrays.push_back(array("h.2.b"));
  arrays.push_back(array("h.1.b", "d_model[5]"));
  const auto groups = models::grouped(arrays);
  REQUIRE(groups.size() == 4);
  CHECK(groups[0].name == "wte");
  CHECK(groups[1].name == "h.{0…2}.e.{0…1}.w");
  CHECK(groups[1].count == 6);
  CHECK(groups[2].name == "h.{0, 2}.b");
  CHECK(groups[3].name == "h.1.b");
}

TEST_CASE("why a folder would be rejected") {
  const dimwise_test::model_folder folder("qwen2", "architectures_decoders.dwpack");
  const auto rejected = [&](const std::string& from, const std::string& to) {
    folder.change(from, to);
    return models::inspect(folder.path()).rejected;
  };
  CHECK(says(rejected("\"qwen2\"", "\"mamba\""), "model_type is \"mamba\"; the types that are read are bloom, "));
  CHECK(says(rejected("\"qwen2\"", "\"mamba\""), "t5, bert, "));
  CHECK(says(rejected("\"silu\"", "\"mish\""), "hidden_act is \"mish\"; the activations that are read are relu"));
  const auto lines = rejected("\"num_hidden_layers\": ", "\"quantization_config\": {}, \"num_hidden_layers\": ");
  CHECK(lines == std::vector<std::string>{"quantization_config is set; weights are read as floats"});
  const auto smaller = rejected("\"intermediate_size\": ", "\"intermediate_size\": 1");
  CHECK(smaller.size() > 3);
  CHECK(says(smaller, "does not fit blocks.0.feed_forward"));
  // The arrays are shown in any case.
  CHECK(find(models::inspect(folder.path()), "model.embed_tokens.weight").is_parameter);

  const dimwise_test::temporary_folder empty;
  const auto nothing = models::inspect(empty.path());
  CHECK(says(nothing.rejected, "model.safetensors or model.safetensors.index.json was expected"));
  CHECK(says(nothing.rejected, "config.json"));
  CHECK(nothing.architecture.empty());
  folder.write("model.safetensors", "x");
  CHECK(says(models::inspect(folder.path()).rejected, "model.safetensors"));
}

TEST_CASE("the verdicts of the documentation are those of the lists") {
  std::ifstream page(dimwise_test::data_file("../../docs/reference/models.md"));
  REQUIRE(page);
  std::size_t rows = 0;
  for (std::string line; std::getline(page, line);) {
    const std::size_t end = line.rfind("` | ");
    const bool read = line.ends_with("` | read |");
    if (!read && line.find("` | not read: ") == std::string::npos) { continue; }
    CAPTURE(line);
    const std::size_t last = read ? end : line.find("` | not read: ");
    const std::size_t first = line.rfind('`', last - 1) + 1;
    const std::string kind = line.substr(first, last - first);
    const auto is = [&](const auto& one) { return one.model_type == kind; };
    const auto& decoders = models::known_decoders();
    const auto& both = models::known_encoder_decoders();
    const bool known = std::any_of(decoders.begin(), decoders.end(), is) || std::any_of(both.begin(), both.end(), is) ||
                       models::find_encoder_family(kind) != nullptr;
    const bool is_static = kind == "model2vec" || kind == "StaticEmbedding";
    CHECK((known || is_static || !read));
    ++rows;
  }
  CHECK(rows >= 40);
}

TEST_CASE("files without settings have extents, or the dimensions in their metadata") {
  const dimwise_test::model_folder folder("qwen2", "architectures_decoders.dwpack");
  const auto found = models::inspect(folder / "model.safetensors");
  CHECK(found.architecture.empty());
  CHECK(found.rejected.empty());
  CHECK_FALSE(found.vocabulary().has_value());
  CHECK(found.metadata.at("format") == "pt");
  CHECK(find(found, "model.embed_tokens.weight").dimensions.front() == '[');
  CHECK(found.parameters() * 4 == found.bytes());
  CHECK_THROWS_AS(static_cast<void>(models::inspect(folder / "config.json")), io::file_error);
  CHECK_THROWS_AS(static_cast<void>(models::inspect(folder / "none")), io::file_error);

  models::any_norm<models::decoder_dims::d_model> norm(models::norm_settings{});
  nn::normal how(1, 1);
  nn::initialise(norm, how, models::decoder_dims::d_model{3});
  io::save(norm, folder / "own.safetensors");
  const auto own = models::inspect(folder / "own.safetensors");
  REQUIRE(own.arrays.size() == 1);
  CHECK(own.arrays.front().dimensions == "d_model[3]");
  CHECK(own.settings.empty());
}
