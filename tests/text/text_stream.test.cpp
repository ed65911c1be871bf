// tests/text/text_stream.test.cpp -- ids to text one by one: the whole text, and never a part of a character.
// SPDX-License-Identifier: BSL-1.0
#include "support/pack.hpp"
#include <dimwise/text/text_stream.hpp>

#include <doctest/doctest.h>

using namespace dimwise;

namespace {

struct vocab : choice_dim<> {};

text::tokenizer<vocab> packed(const std::string& name) {
  static const dimwise_test::pack all(dimwise_test::data_file("tokenizers.dwpack"));
  const auto bytes = all.at(name + "/tokenizer.json").bytes;
  return {nlohmann::json::parse(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())), name};
}

}  // namespace

TEST_CASE("the first byte that is no UTF-8 is found") {
  for (const char* text : {"", "a", "naïve 👩‍👩‍👧 你好 \x7f", "\xf4\x8f\xbf\xbf"}) {
    CAPTURE(text);
    CHECK_FALSE(text::first_invalid_utf8(text));
  }
  CHECK(text::first_invalid_utf8("\xff") == 0);
  CHECK(text::first_invalid_utf8("ab\x80") == 2);
  CHECK(text::first_invalid_utf8("ï\xe2\x82") == 2);         // cut off
  CHECK(text::first_invalid_utf8("\xc3\xa9\xc0\xaf") == 2);  // too long a form
  CHECK(text::first_invalid_utf8("\xed\xa0\x80") == 0);      // a surrogate
  CHECK(text::first_invalid_utf8("\xf4\x90\x80\x80") == 0);  // beyond U+10FFFF
}

TEST_CASE("what comes is the text, in whole characters") {
  const std::string said = "Once upon a time,";
  const std::string more = " naïve 👩‍👩‍👧 你好 🇩🇪 and\n\n the rest … 𝔘";
  for (const char* name : {"gpt2", "pairs"}) {
    const auto words = packed(name);
    const auto all = words.encode(said + more);
    const auto shown = words.encode(said);
    REQUIRE(std::equal(shown.begin(), shown.end(), all.begin()));
    text::text_stream stream(words, shown);
    std::string text;
    std::size_t held = 0;
    for (std::size_t i = shown.size(); i < all.size(); ++i) {
      const std::string part = stream.next(all[i]);
      CHECK(text::encoded(text::decoded(part)) == part);
      held += part.empty() ? 1 : 0;
      text += part;
    }
    CHECK(text == more);
    CHECK(held > 0);  // characters of several ids are among them
  }
}

TEST_CASE("an id outside the vocabulary throws and leaves the stream as it was") {
  const auto words = packed("gpt2");
  const auto said = words.encode("Once upon");
  const std::vector<id<vocab>> wrong{id<vocab>{999999}};
  CHECK_THROWS_WITH_AS(text::text_stream<vocab>(words, wrong),
                       "decode: id 999999 is outside dimension vocab, whose ids are 50257", index_error);
  text::text_stream<vocab> stream(words);
  std::string text = stream.next(said[0]);
  CHECK_THROWS_AS(static_cast<void>(stream.next(wrong[0])), index_error);
  for (std::size_t i = 1; i < said.size(); ++i) { text += stream.next(said[i]); }
  CHECK(text + stream.rest() == "Once upon");
}

TEST_CASE("a text from the beginning has no space before it; a character that is never whole is not shown") {
  const auto words = packed("pairs");
  text::text_stream<vocab> stream(words);
  std::string text;
  for (const auto i : words.encode("Once more")) { text += stream.next(i); }
  CHECK(text == "Once more");
  const auto smile = words.encode("😀", text::tokenizer<vocab>::bare());
  REQUIRE(smile.size() > 4);
  for (std::size_t i = 0; i + 1 < smile.size(); ++i) { text += stream.next(smile[i]); }
  CHECK(text.find("\xEF\xBF\xBD") == std::string::npos);
  text += stream.next(smile.back());
  CHECK(text.ends_with("😀"));
}

TEST_CASE("bytes that are no character leave what was shown before them") {
  const auto words = packed("pairs");
  const auto named = [&](const char* token) { return *words.find(token); };
  text::text_stream<vocab> stream(words);
  std::string text;
  for (const char* token : {"<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "<0xE5>", "a", "b"}) {
    text += stream.next(named(token));
  }
  // decode gives U+FFFD for all five bytes; four of them were shown as what they were
  CHECK(text == "😀\ufffdab");
}

TEST_CASE("the rest at the end is what was held back, once") {
  for (const char* name : {"gpt2", "pairs"}) {
    const auto words = packed(name);
    const auto all = words.encode("a 😀");
    text::text_stream<vocab> stream(words);
    CHECK(stream.rest().empty());
    std::string text;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) { text += stream.next(all[i]); }
    CHECK(text == (std::string(name) == "gpt2" ? "a" : "a "));
    text += stream.rest();
    CHECK(text == words.decode(std::span(all).first(all.size() - 1)));
    CHECK(text.ends_with("\ufffd"));
    CHECK(stream.rest().empty());
  }
  // a U+FFFD that was written is held back as well
  const auto words = packed("gpt2");
  text::text_stream<vocab> stream(words);
  std::string text;
  for (const auto i : words.encode("a\ufffd")) { text += stream.next(i); }
  CHECK(text == "a");
  CHECK(stream.rest() == "\ufffd");
}
