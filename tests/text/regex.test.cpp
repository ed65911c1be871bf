// tests/text/regex.test.cpp -- patterns mean what they mean in Oniguruma; the expected pieces are those of
// HuggingFace's Rust library 0.22.2. SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include <dimwise/text/tokenizer.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace dimwise;
using nlohmann::json;

namespace {

using list = std::vector<std::string>;

json splitting(const std::string& regex) {
  json settings = json::parse(R"({"model": {"type": "WordLevel", "vocab": {"u": 0}, "unk_token": "u"}})");
  settings["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}};
  return settings;
}
list cut(const std::string& regex, const std::string& text) {
  return text::detail::pipeline(splitting(regex), "t").pre_tokens(text);
}
std::string refusal(const std::string& regex) {
  const std::string said = dimwise_test::message([&] { (void)text::detail::pipeline(splitting(regex), "t"); });
  return said.substr(said.rfind(": ") + 2);
}

}  // namespace

TEST_CASE("properties, classes and word boundaries are those of Oniguruma") {
  CHECK(cut("\\p{Han}", "你、好ー") == list{"你", "、", "好", "ー"});  // without what scripts share: 、 is Common
  CHECK(cut("[\\p{Han}]+", "你、好") == list{"你", "、", "好"});
  CHECK(cut("\\p{Hira}", "、ひ") == list{"、", "ひ"});
  CHECK(cut("[^\\p{Han}]", "、你。") == list{"、", "你", "。"});
  CHECK(cut("\\b", "x²③") == list{"x²", "③"});
  CHECK(cut("\\b", "a\u0301 b") == list{"a\u0301", " ", "b"});
  CHECK(cut("\\B", "x²") == list{"x", "²"});
  CHECK(cut("[[:alnum:]]+", "²१ः-") == list{"²", "१ः", "-"});
  CHECK(cut("[^[:alnum:]]", "x1²③") == list{"x1", "²", "③"});
  CHECK(cut("[[:punct:]]", "¢¢a") == list{"¢", "¢", "a"});
  CHECK(cut("\\p{Punct}", "¢¢.") == list{"¢¢", "."});
  CHECK(cut("[[:upper:]]", "aⅠ") == list{"a", "Ⅰ"});
  CHECK(cut("[[:word:]]+", "a\u0301²") == list{"a\u0301", "²"});
  CHECK(cut("\\p{Alnum}+", "a1-") == list{"a1", "-"});
  CHECK(cut("\\w", "-²") == list{"-", "²"});
  CHECK(cut("[^\\w\\s]", "²³a") == list{"²", "³", "a"});  // within [] Latin-1's numbers are no \w
  CHECK(cut("[\\w-]+", "a²") == list{"a", "²"});
  CHECK(cut("\\pL", "apLa") == list{"a", "pL", "a"});  // letters without braces
}

TEST_CASE("options, intervals, sets and escapes are those of Oniguruma") {
  CHECK(cut("(?m)a.", "a\nb") == list{"a\n", "b"});     // a dot matches line ends
  CHECK(cut("a(?i)b|c", "abAC") == list{"ab", "AC"});   // the alternatives belong to the option: a(?i:b|c)
  CHECK(cut("(?x)a b # c", "abc") == list{"ab", "c"});  // the group of the option closes after the comment
  CHECK(cut("a{,2}", "aaaaa") == list{"aa", "aa", "a"});
  CHECK(cut("a{1,3}+", "aaaaa") == list{"aaaaa"});  // repeats, where PCRE2 forbids backtracking
  CHECK(cut("a{0,2}+b", "aaab") == list{"aaab"});
  CHECK(cut("[a[bc]]+", "abcd") == list{"abc", "d"});  // a set within a set
  CHECK(cut("[^a[bc]]", "adb") == list{"a", "d", "b"});
  CHECK(cut("[[ab]-z]", "a-y") == list{"a", "-", "y"});
  CHECK(cut("\\Qa\\E", "aQaE") == list{"a", "QaE"});
  CHECK(cut("\\v", "\x0b\n") == list{"\x0b", "\n"});
  CHECK(cut("\\O", "a\n") == list{"a", "\n"});
  CHECK(cut("(?#[)a", "ab") == list{"a", "b"});
}

TEST_CASE("what PCRE2 would read differently is rejected") {
  CHECK(refusal("(?s)a") == "(?s is not supported");
  CHECK(refusal("(?P<n>a)") == "(?P is not supported");
  CHECK(refusal("(?|a|b)") == "(?| is not supported");
  CHECK(refusal("(*UTF)a") == "(* is not supported");
  CHECK(refusal("a{2}+") == "{2}+ is not supported");
  CHECK(refusal("a{2}?") == "{2}? is not supported");
  CHECK(refusal("[a[^b]]") == "a [^ within [] is not supported");
  CHECK(refusal("[a-[b]]") == "a range that ends with a set is not supported");
  CHECK(refusal("\\xC3\\xA9") == "\\xC3 is not supported");
  CHECK(refusal("\\g{1}(a)") == "\\g is not supported");
  CHECK(refusal("\\N{U+41}") == "\\N is not supported");
  CHECK(refusal("[ab") == "a [ without ]");
}

TEST_CASE("texts that the Rust library encodes are encoded equally") {
  const auto ids = [](const json& settings, const std::string& text) {
    return text::detail::pipeline(settings, "t").encode(text, false);
  };
  using numbers = std::vector<std::uint32_t>;
  // Without unk_id a character without a token may be the end of a longer token.
  json unigram = json::parse(
      R"({"model": {"type": "Unigram", "unk_id": null, "vocab": [["ab", -1.0], ["c", -1.0], ["a", -1.0]]}})");
  CHECK(ids(unigram, "abc") == numbers{0, 1});
  CHECK_THROWS_AS(static_cast<void>(ids(unigram, "b")), io::file_error);
  // An unk_token without an id is an error of the first unknown character.
  json bpe = json::parse(R"({"model": {"type": "BPE", "unk_token": "", "vocab": {"a": 0}, "merges": []}})");
  CHECK(ids(bpe, "aa") == numbers{0, 0});
  CHECK(dimwise_test::message([&] { (void)ids(bpe, "ab"); }) ==
        "t: the model's unk_token \"\" is not in the vocabulary");
  // Spaces that belong to the token before are no token of spaces.
  bpe["added_tokens"] =
      json::parse(R"([{"id": 1, "content": "<s>", "rstrip": true}, {"id": 2, "content": " ", "lstrip": true}])");
  CHECK(ids(bpe, "<s> a a") == numbers{1, 0, 2, 0});
  // Of added tokens that are normalized to the same text, a special one counts.
  bpe["added_tokens"] =
      json::parse(R"([{"id": 1, "content": "X"}, {"id": 2, "content": "x", "special": true, "normalized": true}])");
  bpe["normalizer"] = {{"type", "Lowercase"}};
  CHECK(ids(bpe, "xa") == numbers{2, 0});
  // A special token is left out by its text, also if the vocabulary has it twice.
  json twice =
      json::parse(R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["u", -1.0], ["a", -1.0], ["u", -1.0]]}})");
  twice["added_tokens"] = json::parse(R"([{"id": 2, "content": "u", "special": true}])");
  CHECK(text::detail::pipeline(twice, "t").decode({0, 1, 2}, true) == "a");
  // An empty String matches between all characters.
  json words = splitting("x");
  words["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", ""}}}, {"content", "-"}};
  CHECK(text::detail::pipeline(words, "t").normalized("ab") == "-a-b-");
  words["pre_tokenizer"]["pattern"] = {{"String", ""}};
  CHECK(text::detail::pipeline(words, "t").pre_tokens("a") == list{"-", "a", "-"});
  // HuggingFace's library leaves U+2B820 to U+2B91F out of the ideographs of BERT.
  words["normalizer"] = {{"type", "BertNormalizer"}};
  CHECK(text::detail::pipeline(words, "t").normalized("a\U0002b81fb\U0002b820c\U0002b920") ==
        "a \U0002b81f b\U0002b820c \U0002b920 ");
  // Truncation to nothing does not need the second text.
  words["truncation"] =
      json::parse(R"({"max_length": 0, "strategy": "OnlySecond", "stride": 0, "direction": "Right"})");
  const text::detail::pipeline p(words, "t");
  const auto cut_off = p.encoded_texts({"a"}, true);
  CHECK(cut_off.tokens.empty());
  CHECK(cut_off.overflowing.size() == 1);
  words["pre_tokenizer"] =
      json::parse(R"({"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "add_prefix_space": false})");
  CHECK(dimwise_test::message([&] { (void)text::detail::pipeline(words, "t"); }) ==
        "t: pre_tokenizer: the prepend_scheme is first, but add_prefix_space is false");
}
