// tests/text/bag_of_tokens.test.cpp -- the tokens of texts for static embeddings.
// SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include "support/pack.hpp"
#include <dimwise/io/arrays/tensors.hpp>
#include <dimwise/io/safetensors.hpp>
#include <dimwise/text/bag_of_tokens.hpp>

#include <doctest/doctest.h>

using namespace dimwise;

namespace {

struct vocab : choice_dim<> {};
struct seq : position_dim<> {};
using words = text::tokenizer<vocab>;

std::vector<std::size_t> values(const std::vector<id<vocab>>& ids) {
  std::vector<std::size_t> all;
  for (const auto one : ids) { all.push_back(one.value); }
  return all;
}
// Words between spaces; `unknown` is the JSON of the token of unknown words, `more` further settings.
words of_spaces(const std::string& unknown, const std::string& more = "") {
  const std::string vocabulary = R"({"u": 0, "ab": 1, "cd": 2, "ef": 3, "[CLS]": 4})";
  const std::string settings = R"({"pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": {"type":
      "TemplateProcessing", "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A",
      "type_id": 0}}], "pair": [], "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [4], "tokens": ["[CLS]"]}}},
      "model": {"type": "WordLevel", "vocab": )" +
                               vocabulary + ", \"unk_token\": " + unknown + "}" + more + "}";
  return {io::parse_json(settings, "words"), "words"};
}

}  // namespace

TEST_CASE("tokens of the packed texts are those of model2vec and of sentence-transformers") {
  const dimwise_test::pack data(dimwise_test::data_file("sentences.dwpack"));
  for (const std::string name : {"model2vec", "static-embedding"}) {
    CAPTURE(name);
    const bool as_model2vec = name == "model2vec";
    const auto file = data.at(name + (as_model2vec ? "" : "/0_StaticEmbedding") + "/tokenizer.json").bytes;
    const std::string_view json(reinterpret_cast<const char*>(file.data()), file.size());
    const text::bag_of_tokens<vocab> bag(words(io::parse_json(json, name), name), as_model2vec);
    for (const std::size_t n : {std::size_t{512}, std::size_t{513}}) {
      std::string text;
      for (std::size_t i = 0; i < n; ++i) { text += "a "; }
      const auto found = bag(text);
      CHECK(found.ids.size() == (as_model2vec ? 512 : n));
      CHECK(found.truncated == (as_model2vec && n > 512));
    }
    const auto golden = io::parse_safetensors(data.at(name + "/golden.safetensors").bytes, "golden");
    for (const auto& entry : data.manifest().at("cases")) {
      if (entry.at("name") != name) { continue; }
      const auto& texts = entry.at("texts");
      for (std::size_t k = 0; k < texts.size(); ++k) {
        CAPTURE(k);
        const auto expected =
            io::read_tensor<tensor<std::int64_t, seq>>(golden.at("text." + std::to_string(k) + ".input_ids"));
        const auto found = bag(texts[k].template get<std::string>());
        CHECK(values(found.ids) == std::vector<std::size_t>(expected.values().begin(), expected.values().end()));
        CHECK(found.truncated == (as_model2vec && k >= 6));
      }
    }
  }
}

TEST_CASE("Model2Vec leaves out unknown words and truncates by characters, then by tokens") {
  const text::bag_of_tokens<vocab> all(of_spaces("\"u\""), false);
  CHECK(values(all("ab x cd u ef").ids) == std::vector<std::size_t>{1, 0, 2, 0, 3});
  CHECK(all("").ids.empty());
  // The median length of a token is 2: the first 6 characters.
  const text::bag_of_tokens<vocab> few(of_spaces("\"u\""), true, 3);
  CHECK(values(few("ab x cd ef").ids) == std::vector<std::size_t>{1});  // "ab x c"
  CHECK(few("ab x cd ef").truncated);
  CHECK(values(few("ab cd").ids) == std::vector<std::size_t>{1, 2});
  CHECK_FALSE(few("ab cd ").truncated);
  CHECK(few("ab cd  ").truncated);
  CHECK(values(few("\u00e4\u00f6 ab").ids) == std::vector<std::size_t>{1});  // characters, not bytes
  const text::bag_of_tokens<vocab> one(of_spaces("\"u\""), true, 1);
  CHECK(values(one("ab").ids) == std::vector<std::size_t>{1});
  CHECK(all.most() > few.most());
}

TEST_CASE("the truncation of the file applies, its padding does not") {
  const std::string truncation = R"(, "truncation": {"max_length": 2, "strategy": "LongestFirst", "stride": 0})";
  const std::string padding = R"(, "padding": {"strategy": {"Fixed": 8}, "pad_id": 0, "pad_token": "u"})";
  for (const bool as_model2vec : {false, true}) {
    const text::bag_of_tokens<vocab> bag(of_spaces("\"u\"", truncation + padding), as_model2vec);
    CHECK(values(bag("ab cd ef").ids) == std::vector<std::size_t>{1, 2});
    CHECK(values(bag("ab").ids) == std::vector<std::size_t>{1});
  }
}

TEST_CASE("a tokenizer tells its tokens and the token of unknown words") {
  const words known = of_spaces("\"u\"");
  CHECK(known.token(id<vocab>(3)) == "ef");
  CHECK(known.token(id<vocab>(9)).empty());
  REQUIRE(known.unknown());
  CHECK(known.unknown()->value == 0);
  const auto unigram =
      io::parse_json(R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1]]}})", "unigram");
  CHECK_FALSE(words(unigram, "unigram").unknown());  // Model2Vec keeps it
}
