// tests/text/limits.test.cpp -- a tokenizer.json cannot make memory or time explode: what it may ask for has limits.
// SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include <dimwise/text/tokenizer.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace dimwise;
using nlohmann::json;

namespace {

struct vocab : choice_dim<> {};
using words_of = text::tokenizer<vocab>;

json tiny() {
  return json::parse(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})");
}
// What is thrown by a tokenizer with other settings: when it is made, and when it meets a text.
std::string said(const char* pointer, const json& value, const std::string& text = "aab") {
  json settings = tiny();
  settings[json::json_pointer(pointer)] = value;
  return dimwise_test::message([&] {
    const words_of words(settings, "t");
    (void)words.decode(words.encode(text));
  });
}
json steps(const char* list, const json& step, std::size_t count) {
  return {{"type", "Sequence"}, {list, json(count, step)}};
}
const json doubling{{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}};
const std::string longer_than = "t: the text becomes longer than ";
const std::string limit = " characters, which is the limit: 65536, and 32 for each of its characters";

}  // namespace

TEST_CASE("texts do not become longer than the limit, whichever part makes them so") {
  CHECK(said("/normalizer", steps("normalizers", doubling, 40)) == longer_than + "65632" + limit);
  CHECK(said("/decoder", steps("decoders", doubling, 40)) == longer_than + "65632" + limit);
  const json level{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  CHECK(said("/pre_tokenizer", steps("pretokenizers", level, 40), "é") == longer_than + "65568" + limit);
  const json many{{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(1000, 'y')}};
  CHECK(said("/normalizer", many, std::string(10'000, 'a')) == longer_than + "385536" + limit);
  CHECK(said("/normalizer", {{"type", "Prepend"}, {"prepend", std::string(70'000, 'z')}}) ==
        longer_than + "65632" + limit);
}

TEST_CASE("the limit is that of all parts of a text together") {
  json settings = tiny();
  settings["added_tokens"] = {{{"id", 3U}, {"content", "#"}, {"special", true}}};
  settings["normalizer"] = {{"type", "Prepend"}, {"prepend", std::string(60'000, 'a')}};
  const words_of words(settings, "t");
  CHECK(words.encode("a").size() == 60'001);
  CHECK(dimwise_test::message([&] { (void)words.encode("a#a#a"); }).find(longer_than) == 0);
}

TEST_CASE("texts that Unicode and bytes make longer are within the limit") {
  std::string ligatures;  // 18 letters each in NFKD, four bytes each of those that follow
  for (int i = 0; i < 20'000; ++i) { ligatures += "\xef\xb7\xba"; }
  CHECK(said("/normalizer", {{"type", "NFKD"}}, ligatures).empty());
  std::string emoji;
  for (int i = 0; i < 20'000; ++i) { emoji += "😀"; }
  CHECK(said("/pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", true}}, emoji).empty());
}

TEST_CASE("a tokenizer has a hundred steps of a kind at most") {
  const json prepend{{"type", "Prepend"}, {"prepend", "z"}};
  CHECK(said("/normalizer", steps("normalizers", prepend, 100)).empty());
  CHECK(said("/normalizer", steps("normalizers", prepend, 101)) ==
        "t: a normalizer of 101 steps is not supported, the limit is 100");
  CHECK(said("/decoder", steps("decoders", {{"type", "Fuse"}}, 101)) ==
        "t: a decoder of 101 steps is not supported, the limit is 100");
  CHECK(said("/pre_tokenizer", steps("pretokenizers", {{"type", "BertPreTokenizer"}}, 101)) ==
        "t: a pre_tokenizer of 101 steps is not supported, the limit is 100");
}

TEST_CASE("a post_processor puts a bounded number of ids around a text, and WordPiece cuts words of bounded length") {
  const json special{{"SpecialToken", {{"id", "a"}, {"type_id", 0}}}};
  json single(1024, special);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  json around{{"type", "TemplateProcessing"}, {"single", single}};
  CHECK(said("/post_processor", around).empty());
  around["single"].push_back(special);
  CHECK(said("/post_processor", around) ==
        "t: a post_processor that adds more than 1024 ids to a text is not supported");

  json pieces = json::parse(R"({"model": {"type": "WordPiece", "vocab": {"u": 0, "a": 1, "##a": 2, "##aé": 3},
                                          "continuing_subword_prefix": "##", "unk_token": "u"}})");
  pieces["model"]["max_input_chars_per_word"] = 1000U;
  const words_of words(pieces, "t");
  const auto ids = words.encode(std::string(998, 'a') + "aé");
  CHECK(ids.size() == 999);
  CHECK(ids.front().value == 1);
  CHECK(ids[1].value == 2);
  CHECK(ids.back().value == 3);
  CHECK(words.encode("aéé").front().value == 0);
  pieces["model"]["max_input_chars_per_word"] = 1001U;
  CHECK(dimwise_test::message([&] { (void)words_of(pieces, "t"); }) ==
        "t: the model's max_input_chars_per_word is 1001, more than 1000 is not supported");
}

TEST_CASE("fifty thousand added words are found as quickly as one") {
  json settings = tiny();
  json added = json::array();
  for (unsigned i = 0; i < 50'000; ++i) {
    added.push_back({{"id", 3 + i}, {"content", "<" + std::to_string(i) + ">"}, {"special", true}});
  }
  settings["added_tokens"] = added;
  const words_of words(settings, "t");
  // Without an index, this is 10^10 comparisons.
  std::string text;
  for (int i = 0; i < 100'000; ++i) { text += "ab"; }
  CHECK(words.encode(text + "<49999>").back().value == 50'002);
}

TEST_CASE("the decoder's Strip takes time in proportion to the token") {
  json settings = tiny();
  settings["model"]["vocab"][std::string(2'000'000, 'x')] = 3U;
  settings["decoder"] = {{"type", "Strip"}, {"content", "x"}, {"start", 1'500'000U}, {"stop", 2U}};
  const words_of words(settings, "t");
  const std::vector<id<vocab>> one{id<vocab>(3)};
  CHECK(words.decode(one).size() == 499'998);
  settings["decoder"] = {{"type", "Strip"}, {"content", ""}, {"start", 16'000'000U}, {"stop", 2U}};
  CHECK(words_of(settings, "t").decode(one).size() == 2'000'000);
}
