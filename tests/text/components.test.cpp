// tests/text/components.test.cpp -- every component of a tokenizer.json gives what HuggingFace's Rust library gives.
// SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include "support/pack.hpp"
#include <dimwise/text/folder.hpp>
#include <dimwise/text/tokenizer.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace dimwise;
using nlohmann::json;
using text::detail::encoding;
using text::detail::pipeline;

namespace {

struct vocab : choice_dim<> {};
using words_of = text::tokenizer<vocab>;

json components() {
  const dimwise_test::pack all(dimwise_test::data_file("tokenizer_components.dwpack"));
  const auto bytes = all.at("components.json").bytes;
  return json::parse(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}
std::vector<std::uint32_t> ids_in(const json& list) { return list.get<std::vector<std::uint32_t>>(); }
encoding encoded(const pipeline& p, const json& texts, bool special) {
  std::vector<std::string> kept;
  for (const auto& one : texts) { kept.push_back(one.get<std::string>()); }
  std::vector<encoding> batch{p.encoded_texts({kept.begin(), kept.end()}, special)};
  p.pad(batch);
  return batch.front();
}
void check_case(const pipeline& p, const json& c) {
  const std::string text = c.at("text").get<std::string>();
  json texts = json::array();
  texts.push_back(text);
  if (c.contains("pair")) { texts.push_back(c.at("pair")); }
  const encoding e = encoded(p, texts, true);
  CHECK(e.tokens == ids_in(c.at("ids")));
  CHECK(encoded(p, texts, false).tokens == ids_in(c.at("ids_without_special")));
  if (c.contains("type_ids")) { CHECK(e.types == ids_in(c.at("type_ids"))); }
  if (c.contains("attention_mask")) { CHECK(json(e.given) == c.at("attention_mask")); }
  if (c.contains("overflowing")) {
    REQUIRE(e.overflowing.size() == c.at("overflowing").size());
    for (std::size_t i = 0; i < e.overflowing.size(); ++i) {
      CHECK(e.overflowing[i].tokens == ids_in(c.at("overflowing")[i]));
    }
  }
  if (c.contains("decoded") && !c.at("decoded").is_null()) {
    CHECK(p.decode(e.tokens, false) == c.at("decoded").get<std::string>());
    const char* key = c.contains("decoded_skip_special") ? "decoded_skip_special" : "decoded";
    CHECK(p.decode(e.tokens, true) == c.at(key).get<std::string>());
  }
  if (c.contains("normalized")) { CHECK(p.normalized(text) == c.at("normalized").get<std::string>()); }
  if (c.contains("pre_tokens") && !text.empty()) { CHECK(json(p.pre_tokens(text)) == c.at("pre_tokens")); }
}

const char* const letters = R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})";
std::string refusal(const json& settings) {
  return dimwise_test::message([&] { (void)words_of(settings, "t"); });
}

}  // namespace

TEST_CASE("every component gives the ids, masks, words and texts that the Rust library gives") {
  const json all = components();
  REQUIRE(all.at("files").size() == 129);
  for (const json& file : all.at("files")) {
    CAPTURE(file.at("name"));
    const pipeline p(file.at("tokenizer"), "t");
    for (const json& c : file.at("cases")) {
      CAPTURE(c.at("text"));
      if (c.contains("error")) {
        CHECK_THROWS_AS(check_case(p, c), io::file_error);
      } else {
        check_case(p, c);
      }
    }
    for (const json& c : file.at("decode_cases")) {
      const std::string found = p.decode(ids_in(c.at("ids")), false);
      if (!c.at("decoded").is_null()) { CHECK(found == c.at("decoded").get<std::string>()); }
    }
    for (const json& batch : file.at("batches")) {
      std::vector<std::string> kept;
      std::vector<encoding> found;
      for (const json& text : batch.at("texts")) {
        kept.push_back(text.get<std::string>());
        found.push_back(p.encoded_texts({kept.back()}, true));
      }
      p.pad(found);
      for (std::size_t i = 0; i < found.size(); ++i) {
        const json& expected = batch.at("encodings")[i];
        CHECK(found[i].tokens == ids_in(expected.at("ids")));
        CHECK(found[i].types == ids_in(expected.at("type_ids")));
        CHECK(json(found[i].given) == expected.at("attention_mask"));
        CHECK(json(found[i].special) == expected.at("special_tokens_mask"));
      }
    }
  }
}

TEST_CASE("files that the Rust library rejects are rejected") {
  const json all = components();
  REQUIRE(all.at("reject").size() > 20);
  for (const json& file : all.at("reject")) {
    CAPTURE(file.at("name"));
    CHECK_THROWS_AS(words_of(io::parse_json(file.at("text").get<std::string>(), "t"), "t"), io::file_error);
  }
}

TEST_CASE("a text as the file says: a pair, a batch that is padded, special tokens in the text") {
  const json all = components();
  for (const json& file : all.at("files")) {
    if (file.at("name") != "pad_multiple_of_8") { continue; }
    const words_of words(file.at("tokenizer"), "t");
    const auto alone = words.stored_encoding("the river");
    CHECK(alone.ids.size() % 8 == 0);
    const auto pair = words.stored_encoding("the river", "runs to the sea");
    CHECK(std::count(pair.types.begin(), pair.types.end(), 1U) > 0);
    const auto batch = words.stored_encodings({{"the river"}, {"Hello world, is this the right house?"}});
    CHECK(batch[0].ids.size() == batch[1].ids.size());
    CHECK(batch[0].given.back() == 0);
    CHECK(words.decode(alone.ids, words_of::with_special{}).find("[CLS]") != std::string::npos);
    CHECK(words.decode(alone.ids) == "the river");
    CHECK_THROWS_AS(static_cast<void>(words.stored_encodings({{}})), extent_error);
    // Neither padded nor truncated by the file; the longer text is cut first.
    const auto whole = words.encode("the river", "runs to the sea", words_of::at_most{100});
    CHECK(std::count(whole.given.begin(), whole.given.end(), 0) == 0);
    CHECK(std::equal(whole.ids.begin(), whole.ids.end(), pair.ids.begin()));
    const auto cut = words.encode("the river", "runs to the sea", words_of::at_most{whole.ids.size() - 1});
    CHECK(cut.ids.size() == whole.ids.size() - 1);
    CHECK(std::count(cut.types.begin(), cut.types.end(), 0U) == std::count(whole.types.begin(), whole.types.end(), 0U));
    const std::string shorter =
        dimwise_test::message([&] { (void)words.encode("the river", "runs", words_of::at_most{2}); });
    CHECK(shorter.find("at most 2 ids are allowed, and the special tokens alone are ") != std::string::npos);
  }
}

TEST_CASE("a Regex has a number of steps in proportion to the text") {
  json settings = json::parse(letters);
  settings["pre_tokenizer"] = {
      {"type", "Split"}, {"pattern", {{"Regex", "(a|aa)+(?=[bc])"}}}, {"behavior", "Isolated"}};
  const words_of words(settings, "t");
  const std::string text(3000, 'a');
  CHECK(dimwise_test::message([&] {
    (void)words.encode(text);
  }).find("takes more steps than a text of 3000 bytes has") != std::string::npos);
  settings["pre_tokenizer"]["pattern"]["Regex"] = "\\s+(?!\\S)|\\s+|\\S+";
  CHECK(words_of(settings, "t").encode(std::string(1 << 20, ' ') + text).size() == 3000);
}

TEST_CASE("\\s, \\w and \\h are those of Oniguruma") {
  const auto cut = [](const char* regex, const std::string& text) {
    json settings = json::parse(letters);
    settings["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Removed"}};
    return pipeline(settings, "t").pre_tokens(text);
  };
  using list = std::vector<std::string>;
  CHECK(cut("\\s",
            "a\xC2\x85"
            "b\xE1\xA0\x8E"
            "c") == list{"a",
                         "b\xE1\xA0\x8E"
                         "c"});  // U+0085 is a space, U+180E is none
  CHECK(cut("[\\S]", "a b") == list{" "});
  CHECK(cut("\\w", "a\xCC\x81 \xE2\x91\xA0\xC2\xBD") == list{" \xE2\x91\xA0"});
  CHECK(cut("[^\\w]", "a-b") == list{"a", "b"});
  CHECK(cut("\\h", "fg") == list{"g"});
  CHECK(cut("\\u0061", "abc") == list{"bc"});
  CHECK(cut("[[:digit:]]", "a1b") == list{"a", "b"});
  CHECK(cut("^b", "a\nb") == list{"a\n"});
  json settings = json::parse(letters);
  settings["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", "[\\W]"}}}, {"behavior", "Removed"}};
  CHECK(refusal(settings) == "t: the Regex \"[\\\\W]\": \\W within [] is not supported");
}

TEST_CASE("BERT's vocab.txt is read, with the tokenizer_config.json beside it") {
  const dimwise_test::temporary_folder folder;
  folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\n##re\nThe\n");
  const auto ids = [&](const std::string& text) {
    std::vector<std::size_t> all;
    for (const auto i : words_of::read(folder / "vocab.txt").encode(text)) { all.push_back(i.value); }
    return all;
  };
  CHECK(ids("There the") == std::vector<std::size_t>{2, 4, 5, 4, 3});
  CHECK(text::read_tokenizer(folder.path(), vocab{7}).size() == 7);
  folder.write("tokenizer_config.json", R"({"do_lower_case": false})");
  CHECK(ids("There [PAD]") == std::vector<std::size_t>{2, 6, 5, 0, 3});
  folder.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\n[CLS]\n");
  CHECK(dimwise_test::message([&] { (void)ids(""); }).ends_with("vocab.txt: the token \"[CLS]\" occurs on two lines"));
  folder.write("vocab.txt", "[UNK]\n[SEP]\n");
  CHECK(dimwise_test::message([&] { (void)ids(""); }).ends_with("vocab.txt: the token [CLS] is missing"));
}
