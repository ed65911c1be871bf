// tests/text/tokenizer.test.cpp -- text to ids as HuggingFace's own implementation gives them, and back.
// SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include "support/pack.hpp"
#include <dimwise/text/tokenizer.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace dimwise;
using nlohmann::json;

namespace {

struct vocab : choice_dim<> {};
struct few : choice_dim<100> {};
using words_of = text::tokenizer<vocab>;

const dimwise_test::pack& data() {
  static const dimwise_test::pack all(dimwise_test::data_file("tokenizers.dwpack"));
  return all;
}
json packed(const std::string& name) {
  const auto bytes = data().at(name).bytes;
  return json::parse(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}
std::vector<std::size_t> numbers(const std::vector<id<vocab>>& ids) {
  std::vector<std::size_t> all;
  for (const auto i : ids) { all.push_back(i.value); }
  return all;
}
std::string refusal(const json& settings) {
  return dimwise_test::message([&] { (void)words_of(settings, "t"); });
}
// GPT-2's vocabulary with the words of another model.
json with_pattern(const std::string& name) {
  const std::string digits = name == "llama3" ? "{1,3}" : "";
  const std::string regex = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})" + digits +
                            R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  json settings = packed("gpt2/tokenizer.json");
  settings["pre_tokenizer"] = {{"type", "Sequence"},
                               {"pretokenizers",
                                {{{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}},
                                 {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  return settings;
}
json tiny() {
  return json::parse(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})");
}

}  // namespace

TEST_CASE("ten thousand lines give the ids that the reference gives") {
  const json lines = packed("lines.json");
  REQUIRE(lines.size() == 10000);
  for (const std::string name : {"gpt2", "bert", "pairs", "llama3", "qwen2"}) {
    const words_of words(name == "llama3" || name == "qwen2" ? with_pattern(name) : packed(name + "/tokenizer.json"),
                         name);
    const json ids = packed(name + "/ids.json");
    std::size_t differing = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (numbers(words.encode(lines[i].get<std::string>())) != ids[i].get<std::vector<std::size_t>>()) {
        if (++differing == 1) { MESSAGE(name << ": line " << i << " " << lines[i].dump()); }
      }
    }
    CHECK(differing == 0);
  }
}

TEST_CASE("ids become the text again") {
  const words_of bytes(packed("gpt2/tokenizer.json"), "gpt2");
  const words_of pairs(packed("pairs/tokenizer.json"), "pairs");
  const json lines = packed("lines.json");
  for (std::size_t i = 0; i < lines.size(); i += 7) {
    const std::string line = lines[i].get<std::string>();
    if (line.find("<|endoftext|>") == std::string::npos) { CHECK(bytes.decode(bytes.encode(line)) == line); }
    if (line.find("<s>") == std::string::npos && line.find("</s>") == std::string::npos &&
        line.find("▁") == std::string::npos) {
      CHECK(pairs.decode(pairs.encode(line)) == line);
    }
  }
  const words_of bert(packed("bert/tokenizer.json"), "bert");
  CHECK(bert.decode(bert.encode("The quick brown foxes!")) == "the quick brown foxes!");
  CHECK(numbers(bert.encode("a", words_of::bare())).size() == 1);
  CHECK(numbers(bert.encode("a")).size() == 3);
}

TEST_CASE("a text is truncated to a number of ids, and what is around it stays") {
  const words_of bert(packed("bert/tokenizer.json"), "bert");
  const std::string line = "the quick brown foxes!";
  const auto all = numbers(bert.encode(line));
  REQUIRE(all.size() > 5);
  for (std::size_t most = 2; most < all.size() + 2; ++most) {
    auto expected = all;
    if (most < all.size()) {
      expected.resize(most - 1);
      expected.push_back(all.back());
    }
    CHECK(numbers(bert.encode(line, words_of::at_most{most})) == expected);
  }
  CHECK(dimwise_test::message([&] { (void)bert.encode(line, words_of::at_most{1}); }) ==
        "encode: at most 1 ids were requested, but every text has 2 special tokens");
}

TEST_CASE("bytes that are no UTF-8 become U+FFFD, one for each sequence that was begun") {
  const words_of words(packed("gpt2/tokenizer.json"), "gpt2");
  const std::string broken =
      "a\xff\xe4\xbd"
      "b\xc0\x80\xed\xa0\x80\xf0\x9f\x98";
  CHECK(words.decode(words.encode(broken)) == "a\ufffd\ufffdb\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd");
}

TEST_CASE("a long text without spaces is one word, in time") {
  const words_of words(packed("pairs/tokenizer.json"), "pairs");
  std::string text;
  for (int i = 0; i < 100000; ++i) { text += static_cast<char>('a' + i % 7); }
  CHECK(words.decode(words.encode(text)) == text);
}

TEST_CASE("GPT-2's two files are the same tokenizer") {
  const dimwise_test::temporary_folder folder;
  const json settings = packed("gpt2/tokenizer.json");
  folder.write("vocab.json", settings.at("model").at("vocab").dump());
  std::string merges = "#version: 0.2\n";
  for (const json& m : settings.at("model").at("merges")) {
    merges += (m.is_string() ? m.get<std::string>() : m[0].get<std::string>() + " " + m[1].get<std::string>()) + "\n";
  }
  folder.write("merges.txt", merges);
  const words_of one(settings, "gpt2");
  const words_of two = words_of::read(folder / "vocab.json", folder / "merges.txt");
  CHECK(two.size() == one.size());
  const json lines = packed("lines.json");
  for (std::size_t i = 0; i < lines.size(); i += 31) {
    CHECK(numbers(two.encode(lines[i].get<std::string>())) == numbers(one.encode(lines[i].get<std::string>())));
  }
}

TEST_CASE("WordPiece takes away the spaces before punctuation, token by token, unless its file says no") {
  json settings = packed("bert/tokenizer.json");
  const auto said = [&](const std::string& text) {
    const words_of words(settings, "bert");
    return words.decode(words.encode(text));
  };
  CHECK(said("the cat, the dog.") == "the cat, the dog.");
  CHECK(said("Who? Me! We don't, I'm 3.5") == "who? me! we don ' t, i ' m 3. 5");
  std::size_t id = words_of(settings, "bert").size();
  for (const char* token : {"n't", "'s", "do not", "x ' y"}) {
    settings["added_tokens"].push_back({{"id", id++}, {"content", token}, {"normalized", false}});
  }
  CHECK(said("is n't the cat 's do not x ' y") == "isn't the cat's don't x'y");
  settings["decoder"]["cleanup"] = false;
  CHECK(said("the cat, the dog.") == "the cat , the dog .");
}

TEST_CASE("an added token that is normalized is found in the normalized text") {
  const auto with = [](const std::string& content, bool normalised) {
    json settings = packed("bert/tokenizer.json");
    const std::size_t id = words_of(settings, "bert").size();
    settings["added_tokens"].push_back({{"id", id}, {"content", content}, {"normalized", normalised}});
    return std::pair(words_of(settings, "bert"), id);
  };
  const auto holds = [](const auto& words, const std::string& text) {
    const auto ids = numbers(words.first.encode(text, words_of::bare()));
    return std::count(ids.begin(), ids.end(), words.second);
  };
  const auto upper = with("FOO", true);
  CHECK(holds(upper, "the FOO") == 1);
  CHECK(holds(upper, "the foo, Foo") == 2);
  CHECK(holds(with("ÉÉ", true), "the ee ÉÉ") == 2);
  const auto raw = with("FOO", false);
  CHECK(holds(raw, "the FOO") == 1);
  CHECK(holds(raw, "the foo") == 0);
  // of U+FFFD, which BERT leaves out, nothing is left
  CHECK(holds(with("\ufffd", true), "the \ufffd") == 0);
}

TEST_CASE("an added token that is not matched is no piece of a word") {
  json settings = packed("bert/tokenizer.json");
  const words_of bare(settings, "bert");
  std::size_t next = bare.size();
  const auto add = [&](const std::string& content, bool special, bool single) {
    settings["added_tokens"].push_back(
        {{"id", next}, {"content", content}, {"special", special}, {"single_word", single}, {"normalized", !special}});
    return next++;
  };
  const auto url = add("qurlx", true, false);
  const auto covid = add("qcovidx", false, true);
  const words_of words(settings, "bert");
  const auto ids = [&](const words_of& of, const std::string& line) {
    return numbers(of.encode(line, words_of::bare()));
  };
  REQUIRE_FALSE(bare.find("qurlx"));
  CHECK(words.find("qurlx")->value == url);
  CHECK(ids(words, "qurlx") == std::vector{url});
  CHECK(ids(words, "qcovidx") == std::vector{covid});
  CHECK(ids(words, "QCovidX!").front() == covid);
  // Not matched: normalised into it, or part of a word. The pieces are those of the vocabulary alone.
  for (const std::string line : {"the QURLX", "qcovidx9", "qcovidxs", "xqcovidx", "qcovidx_", "qcovidx\u0661"}) {
    CAPTURE(line);
    CHECK(ids(words, line) == ids(bare, line));
  }
  // Neither is one in a byte-pair model that looks up whole words first.
  json pairs = tiny();
  pairs["model"]["ignore_merges"] = true;
  pairs["added_tokens"] = {{{"id", 3U}, {"content", "ba"}, {"single_word", true}}};
  CHECK(numbers(words_of(pairs, "t").encode("ba")) == std::vector<std::size_t>{3});
  pairs["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", "c"}}}, {"content", "ba"}};
  pairs["added_tokens"][0]["normalized"] = false;
  CHECK(numbers(words_of(pairs, "t").encode("c")) == std::vector<std::size_t>{1, 0});
}

TEST_CASE("a single_word is not beside the characters that \\w of Rust matches") {
  json settings = tiny();
  settings["model"]["vocab"]["?"] = 3U;
  settings["model"]["unk_token"] = "?";
  settings["added_tokens"] = {{{"id", 4U}, {"content", "<x>"}, {"single_word", true}}};
  const words_of words(settings, "t");
  const auto matched = [&](const std::string& text) {
    const auto ids = numbers(words.encode(text));
    return std::count(ids.begin(), ids.end(), std::size_t{4}) == 1;
  };
  // Letters, marks of all kinds, decimal digits, letters that are numbers, connectors, joiners, circled letters.
  for (const std::string c : {"a", "é", "漢", "ー", "\u0301", "\u0903", "\u20dd", "7", "\u0661", "Ⅷ", "_", "‿",
                              "\u200d", "\u200c", "ⓐ", "🄰"}) {
    CAPTURE(c);
    CHECK_FALSE(matched("<x>" + c));
    CHECK_FALSE(matched(c + "<x>"));
  }
  for (const std::string c : {" ", ".", "-", "²", "½", "①", "€", "\u200b", "\u00ad", "😀"}) {
    CAPTURE(c);
    CHECK(matched("<x>" + c));
    CHECK(matched(c + "<x>"));
  }
  // The longest token decides. If its neighbours are letters, no shorter token is searched in it.
  settings["added_tokens"].push_back({{"id", 5U}, {"content", "<x>y"}, {"single_word", true}});
  settings["added_tokens"].push_back({{"id", 6U}, {"content", "y"}});
  CHECK(numbers(words_of(settings, "t").encode("<x>yb")) == std::vector<std::size_t>{3, 3, 3, 3, 1});
  CHECK(numbers(words_of(settings, "t").encode("<x>y b")) == std::vector<std::size_t>{5, 3, 1});
}

TEST_CASE("not every id below the size has a token") {
  json settings = tiny();
  settings["added_tokens"] = {{{"id", 5U}, {"content", "c"}}};
  const words_of words(settings, "t");
  const bool expected[] = {true, true, true, false, false, true, false};
  for (std::size_t i = 0; i < 7; ++i) { CHECK(words.has(id<vocab>{i}) == expected[i]); }
  CHECK_FALSE(words.has(id<vocab>{(std::size_t{1} << 32) + 1}));
}

TEST_CASE("StripAccents takes away marks of every kind, BertNormalizer accents alone") {
  json settings = tiny();
  settings["model"]["vocab"]["\u093e"] = 3U;  // Mc
  settings["model"]["vocab"]["\u20dd"] = 4U;  // Me
  const std::string marked = "a\u0301\u093eb\u20dd";
  const auto given = [&] { return numbers(words_of(settings, "t").encode(marked)); };
  settings["normalizer"] = {{"type", "StripAccents"}};
  CHECK(given() == std::vector<std::size_t>{2});
  settings["normalizer"] = {{"type", "BertNormalizer"}};
  CHECK(given() == std::vector<std::size_t>{0, 3, 1, 4});
}

TEST_CASE("ids beyond the vocabulary have no text, and an added token has no word's id") {
  json settings = packed("bert/tokenizer.json");
  const words_of words(settings, "bert");
  for (const std::size_t beyond : {words.size(), (std::size_t{1} << 32) + 1}) {
    const std::vector ids{id<vocab>{beyond}};
    const std::string said = dimwise_test::message([&] { (void)words.decode(ids); });
    CHECK(said.starts_with("decode: id " + std::to_string(beyond) + " is outside dimension "));
  }
  const auto told = [&](std::size_t id, const std::string& content) {
    json other = settings;
    other["added_tokens"].push_back({{"id", id}, {"content", content}});
    return dimwise_test::message([&] { (void)words_of(other, "t"); });
  };
  const std::size_t next = words.size();
  const std::string a_word = "the";
  REQUIRE(words.find(a_word));
  CHECK(told(next, "a new one").empty());
  CHECK(told(words.find(a_word)->value, a_word).empty());
  CHECK(told(next, a_word).empty());  // it keeps the id of the vocabulary
  CHECK(told(words.find(a_word)->value, "a new one").find("which differs from the vocabulary") != std::string::npos);
  settings["added_tokens"] = 7;
  CHECK(dimwise_test::message([&] { (void)words_of(settings, "t"); }).find("added_tokens is not a list") !=
        std::string::npos);
}

TEST_CASE("an added token is its own text where one of its characters is no sign of a byte") {
  json settings = packed("gpt2/tokenizer.json");
  std::size_t id = words_of(settings, "gpt2").size();
  for (const char* token : {"é x", "né"}) {
    settings["added_tokens"].push_back({{"id", id++}, {"content", token}, {"normalized", false}});
  }
  const words_of words(settings, "gpt2");
  CHECK(words.decode(words.encode("aé xb")) == "aé xb");
  CHECK(words.decode(words.encode("né")) == "n\ufffd");  // é is the sign of the byte E9
}

TEST_CASE("a run of invalid bytes becomes one U+FFFD per byte; their digits may be in lower case") {
  const std::vector<std::string> tokens{"<0xE5>", "<0x8f>", "<0xab>", "a", "<0xE5>", "<0x8F>", "b", "<0xEg>", "<0x61>"};
  json settings = tiny();
  settings["decoder"] = {{"type", "ByteFallback"}};
  settings["model"] = {{"type", "BPE"}, {"vocab", json::object()}, {"merges", json::array()}};
  std::vector<id<vocab>> all;
  for (const auto& token : tokens) {
    if (!settings["model"]["vocab"].contains(token)) { settings["model"]["vocab"][token] = all.size(); }
    all.emplace_back(settings["model"]["vocab"][token].get<std::size_t>());
  }
  const words_of words(settings, "t");
  CHECK(words.decode(all) == "叫a\ufffd\ufffdb<0xEg>a");
  // all of the run, what is text in it as well
  const auto named = [&](const char* token) { return *words.find(token); };
  CHECK(words.decode(std::vector{named("<0x61>"), named("<0xE5>")}) == "\ufffd\ufffd");
}

TEST_CASE("without a decoder there are spaces between tokens") {
  json settings = tiny();
  const auto said = [&] {
    return words_of(settings, "t").decode(std::vector{id<vocab>{0}, id<vocab>{2}, id<vocab>{1}});
  };
  CHECK(said() == "a ab b");
  settings["decoder"] = nullptr;
  CHECK(said() == "a ab b");
  settings["decoder"] = {{"type", "Fuse"}};
  CHECK(said() == "aabb");
}

TEST_CASE("a template puts its own ids around the text, and says where the text is") {
  const auto with = [](std::vector<std::string> single, const json& special) {
    json settings = tiny();
    settings["model"]["vocab"]["<s>"] = 3U;
    settings["model"]["vocab"]["<e>"] = 4U;
    json pieces = json::array();
    for (const auto& one : single) {
      pieces.push_back({{one == "A" || one == "B" ? "Sequence" : "SpecialToken", {{"id", one}, {"type_id", 0}}}});
    }
    settings["post_processor"] = {{"type", "TemplateProcessing"}, {"single", pieces}, {"special_tokens", special}};
    return settings;
  };
  const auto special = [](const char* name, const json& ids, const json& tokens) {
    return json{{name, {{"id", name}, {"ids", ids}, {"tokens", tokens}}}};
  };
  const auto given = [](const json& settings) { return numbers(words_of(settings, "t").encode("ab")); };
  CHECK(given(with({"<s>", "A", "<e>"}, json::object())) == std::vector<std::size_t>{3, 2, 4});
  CHECK(given(with({"A", "x"}, special("x", {3U, 4U}, {"<s>", "<e>"}))) == std::vector<std::size_t>{2, 3, 4});
  CHECK(refusal(with({"<s>", "A"}, special("<s>", {4U}, {"<s>"}))) ==
        "t: the post_processor's token \"<s>\" has the id 4, in the vocabulary 3");
  CHECK(refusal(with({"<s>", "A"}, special("<s>", {99U}, {"<x>"}))) ==
        "t: the post_processor's token \"<x>\" is not in the vocabulary");
  CHECK(refusal(with({"<s>", "A"}, special("<s>", {3U, 4U}, {"<s>"}))) ==
        "t: the post_processor's token \"<s>\" needs one id for each of its tokens");
  const std::string once =
      "t: a post_processor whose `single` does not contain the text A exactly once is not supported";
  CHECK(refusal(with({"<s>", "A", "<e>", "A"}, json::object())) == once);
  CHECK(refusal(with({"<s>", "<e>"}, json::object())) == once);
  CHECK(refusal(with({"A", "B"}, json::object())) == once);

  json bert = with({}, json::object());
  bert["post_processor"] = {{"type", "BertProcessing"}, {"cls", {"<s>", 3U}}, {"sep", {"<e>", 4U}}};
  CHECK(given(bert) == std::vector<std::size_t>{3, 2, 4});
  bert["post_processor"]["sep"] = {"<e>", 5U};
  CHECK(refusal(bert) == "t: the post_processor's token \"<e>\" has the id 5, in the vocabulary 4");

  json both = with({"<s>", "A"}, json::object());
  const json first = both.at("post_processor");
  const json level = {{"type", "ByteLevel"}};
  both["post_processor"] = {{"type", "Sequence"}, {"processors", {level, first}}};
  CHECK(given(both) == std::vector<std::size_t>{3, 2});
  both["post_processor"]["processors"].push_back(first);
  CHECK(refusal(both) == "t: a post_processor after another one is not supported");
}

TEST_CASE("what is not supported is refused by name") {
  CHECK(refusal(tiny()).empty());
  const auto changed = [](const char* pointer, const json& value) {
    json settings = tiny();
    settings[json::json_pointer(pointer)] = value;
    return refusal(settings);
  };
  CHECK(changed("/model/type", "Bigram") == "t: the model \"Bigram\" is not supported");
  CHECK(changed("/normalizer", {{"type", "Odd"}}) == "t: the normalizer \"Odd\" is not supported");
  CHECK(changed("/pre_tokenizer", {{"type", "Odd"}}) == "t: the pre_tokenizer \"Odd\" is not supported");
  CHECK(changed("/pre_tokenizer", {{"type", "Split"}, {"pattern", 7}, {"behavior", "Isolated"}}) ==
        "t: the pre_tokenizer Split by \"7\" is not supported, a String or a Regex was expected");
  CHECK(changed("/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", "[a&&b]"}}}, {"behavior", "Isolated"}}) ==
        "t: the Regex \"[a&&b]\": an intersection of sets, &&, is not supported");
  CHECK(changed("/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"String", "a"}}}, {"behavior", "Odd"}})
            .starts_with("t: the behavior \"Odd\" is not supported, Removed"));
  CHECK(changed("/normalizer", {{"type", "Replace"}, {"pattern", 7}, {"content", ""}}) ==
        "t: normalizer: a Replace of \"7\" is not supported, a String or a Regex was expected");
  CHECK(changed("/post_processor", {{"type", "Odd"}}) == "t: the post_processor \"Odd\" is not supported");
  CHECK(changed("/decoder", {{"type", "Odd"}}) == "t: the decoder \"Odd\" is not supported");
  CHECK(changed("/model/dropout", 0.1) == "t: the model's dropout is not supported");
  CHECK(changed("/model/merges/0", "a c") == "t: the merge of \"a\" and \"c\" is not in the vocabulary");
  CHECK(changed("/model/vocab/b", -1) == "t: the id of \"b\" is -1, not an integer from 0 to 2^24 - 1");
  CHECK(changed("/model/vocab/b", 0U) == "t: two tokens of the vocabulary have the same id");
  CHECK(changed("/model/byte_fallback", "true") == "t: byte_fallback is neither true nor false");
  CHECK(changed("/model/unk_token", 1) == "t: model: unk_token is not a string");
  CHECK(changed("/model/dropout", "0.1") == "t: the model's dropout is not supported");
  CHECK(changed("/model/dropout", 0).empty());
  CHECK(changed("/normalizer", {{"type", "BertNormalizer"}, {"lowercase", "false"}}) ==
        "t: lowercase is neither true nor false");
  CHECK(changed("/normalizer", {{"type", "BertNormalizer"}, {"strip_accents", nullptr}}).empty());
  CHECK(refusal(json::parse("[]")) == "t: the tokenizer lacks model");
  CHECK(dimwise_test::message([] { (void)text::tokenizer<few>(packed("pairs/tokenizer.json"), "pairs"); }) ==
        "pairs: the vocabulary has " + std::to_string(packed("pairs/tokenizer.json")["model"]["vocab"].size()) +
            " ids, but the dimension has extent 100");
}

TEST_CASE("steps may not be nested in each other without end") {
  std::string steps;
  for (int i = 0; i < 20000; ++i) { steps += R"({"type":"Sequence","normalizers":[)"; }
  steps += R"({"type":"Lowercase"})";
  for (int i = 0; i < 20000; ++i) { steps += "]}"; }
  const std::string file = R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"normalizer":)" + steps + "}";
  CHECK(dimwise_test::message([&] { (void)words_of(io::parse_json(file, "t"), "t"); }) ==
        "t: the JSON is nested deeper than 127 levels");
}
