// tests/text/sentencepiece.test.cpp -- models of SentencePiece give the ids and texts that SentencePiece gives.
// SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include "support/pack.hpp"
#include "support/sentencepiece_bytes.hpp"
#include <dimwise/text/folder.hpp>

#include <doctest/doctest.h>

using namespace dimwise;
using namespace dimwise_test::sentencepiece;
using nlohmann::json;

namespace {

struct vocab : choice_dim<> {};
using words_of = text::tokenizer<vocab>;

std::string text_of(const dimwise_test::pack& all, const std::string& name) {
  const auto bytes = all.at(name).bytes;
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
const dimwise_test::pack& packed() {
  static const dimwise_test::pack all(dimwise_test::data_file("sentencepiece.dwpack"));
  return all;
}
std::vector<std::size_t> numbers(const std::vector<id<vocab>>& ids) {
  std::vector<std::size_t> all;
  for (const auto i : ids) { all.push_back(i.value); }
  return all;
}
std::vector<id<vocab>> ids_of(const json& list) {
  std::vector<id<vocab>> all;
  for (const json& one : list) { all.emplace_back(one.get<std::size_t>()); }
  return all;
}
words_of parsed(const std::string& file) {
  return words_of::parse_sentencepiece(dimwise_test::bytes_of_text(file), "m");
}

}  // namespace

TEST_CASE("every setting of a model gives the ids and the texts of SentencePiece") {
  const json lines = json::parse(text_of(packed(), "lines.json"));
  REQUIRE(lines.size() == 1750);
  std::size_t models = 0;
  for (const json& one : packed().cases()) {
    if (!one.contains("tokenizer")) { continue; }
    const std::string name = one.at("name").get<std::string>();
    CAPTURE(name);
    const words_of words = parsed(text_of(packed(), name + "/tokenizer.model"));
    const json expected = json::parse(text_of(packed(), name + "/expected.json"));
    std::size_t different = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string line = lines[i].get<std::string>();
      const auto ids = ids_of(expected.at("ids")[i]);
      if (words.encode(line) != ids && ++different == 1) {
        MESSAGE(name << ": line " << i << " " << lines[i].dump() << json(numbers(words.encode(line))).dump());
      }
      // An unknown piece is a special token here, and ⁇ there.
      const std::string text = expected.at("decoded")[i].get<std::string>();
      if (text.find("\u2047") == text.npos && words.decode(ids) != text && ++different == 1) {
        MESSAGE(name << ": line " << i << " is decoded as " << json(words.decode(ids)).dump());
      }
    }
    CHECK(different == 0);
    ++models;
  }
  CHECK(models == 10);
}

TEST_CASE("Marian's vocab.json gives the pieces of a model other ids") {
  const json lines = json::parse(text_of(packed(), "lines.json"));
  std::size_t compared = 0;
  for (const json& one : packed().cases()) {
    if (!one.contains("tokenizer")) { continue; }
    const std::string name = one.at("name").get<std::string>();
    CAPTURE(name);
    const std::string model = text_of(packed(), name + "/tokenizer.model");
    const words_of words = parsed(model);
    const std::size_t count = words.size();
    json vocabulary = json::object();
    for (std::size_t i = 0; i < count; ++i) { vocabulary[std::string(words.token(id<vocab>(i)))] = count - 1 - i; }
    const dimwise_test::temporary_folder folder;
    folder.write("source.spm", model);
    folder.write("vocab.json", vocabulary.dump());
    const auto read = [&] { return text::read_tokenizer(folder.path(), vocab{count}); };
    if (!dimwise_test::message([&] { (void)read(); }).empty()) { continue; }  // BPE, bytes, other special pieces
    const words_of renumbered = read();
    const json expected = json::parse(text_of(packed(), name + "/expected.json"));
    std::size_t different = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string line = lines[i].get<std::string>();
      if (line.find('<') != line.npos) { continue; }  // SentencePiece has no added tokens
      std::vector<std::size_t> ids;
      for (const json& id : expected.at("ids")[i]) { ids.push_back(count - 1 - id.get<std::size_t>()); }
      ids.push_back(vocabulary.at("</s>").get<std::size_t>());
      different += numbers(renumbered.encode(line)) != ids ? 1 : 0;
    }
    CHECK(different == 0);
    ++compared;
  }
  CHECK(compared > 2);
}

TEST_CASE("a model and a tokenizer.json with the same pieces give the same ids") {
  const dimwise_test::pack all(dimwise_test::data_file("tokenizers.dwpack"));
  const json lines = json::parse(text_of(all, "lines.json"));
  json settings = json::parse(text_of(all, "pairs/tokenizer.json"));
  std::vector<std::string> pieces(settings.at("model").at("vocab").size());
  for (const auto& [token, i] : settings.at("model").at("vocab").items()) { pieces.at(i.get<std::size_t>()) = token; }
  std::string file = trainer(whole(3, 2) + whole(35, 1)) + normalizer(whole(4, 0));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::uint32_t kind = i == 0 ? 2 : i < 3 ? 3 : i < 259 ? 6 : 1;
    file += piece(pieces[i], kind == 1 ? -static_cast<float>(i) : 0.F, kind);
  }
  // As HuggingFace converts it: every pair that forms a piece, in the order of scores.
  const json& known = settings.at("model").at("vocab");
  json merges = json::array();
  for (std::size_t i = 259; i < pieces.size(); ++i) {
    for (std::size_t k = 1; k < pieces[i].size(); ++k) {
      const json pair{pieces[i].substr(0, k), pieces[i].substr(k)};
      if ((pieces[i][k] & '\xC0') != '\x80' && known.contains(pair[0]) && known.contains(pair[1])) {
        merges.push_back(pair);
      }
    }
  }
  settings["model"]["merges"] = merges;
  settings["post_processor"] = nullptr;
  const words_of expected(settings, "t");
  const words_of words = parsed(file);
  std::size_t different = 0;
  for (const json& one : lines) {
    const std::string line = one.get<std::string>();
    const auto ids = words.encode(line);
    if (ids != expected.encode(line) && ++different == 1) { MESSAGE(one.dump() << json(numbers(ids)).dump()); }
  }
  CHECK(different == 0);
  CHECK(words.fingerprint() == expected.fingerprint());
  CHECK(words.vocabulary_size() == pieces.size());
}

TEST_CASE("control pieces are matched as a whole, and are no part of a decoded text") {
  const std::string file = trainer(whole(3, 2)) + piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("a", -1) +
                           piece("\u2581", -2) + piece("\u2581a", -3) + piece("<", -4) + piece("<u>", 0, 4);
  const words_of words = parsed(file);
  CHECK(numbers(words.encode("a<s>a")) == std::vector<std::size_t>{4, 1, 4});
  CHECK(words.decode(words.encode("a<s>a")) == "a a");
  CHECK(words.decode(words.encode("a<s>a"), words_of::with_special{}) == "a<s> a");
  CHECK(numbers(words.encode("a<u>a")) == std::vector<std::size_t>{4, 6, 2});  // user-defined: no second prefix
  CHECK(numbers(words.encode("aXY<a")) == std::vector<std::size_t>{4, 0, 5, 2});
  CHECK(words.encode("").empty());
  CHECK(words.encode("  ").empty());
  CHECK(words.find("<s>") == id<vocab>{1});
}

TEST_CASE("a user-defined piece of a Unigram model replaces better pieces, and an unused one is not matched") {
  const std::string begin = piece("<unk>", 0, 2) + piece("\u2581", -2) + piece("a", -1) + piece("b", -1);
  const auto ids = [&](const std::string& rest) { return numbers(parsed(begin + rest).encode("ab")); };
  CHECK(ids(piece("ab", -9)) == std::vector<std::size_t>{1, 2, 3});
  CHECK(ids(piece("ab", -9, 4)) == std::vector<std::size_t>{1, 4});
  CHECK(ids(piece("ab", 0, 5)) == std::vector<std::size_t>{1, 2, 3});
  CHECK(ids(piece("ab", 0)) == std::vector<std::size_t>{1, 4});
}

TEST_CASE("tokens of bytes become characters, and U+FFFD for each byte that is not part of one") {
  std::string file = trainer(whole(35, 1)) + piece("<unk>", 0, 2) + piece("a", -1);
  constexpr char digits[] = "0123456789ABCDEF";
  for (std::size_t b = 0; b < 256; ++b) {
    file += piece(std::string("<0x") + digits[b / 16] + digits[b % 16] + ">", 0, 6);
  }
  const words_of words = parsed(file);
  const auto ids = words.encode("a\u4f60a");
  CHECK(numbers(ids) == std::vector<std::size_t>{2 + 0xe2, 2 + 0x96, 2 + 0x81, 1, 2 + 0xe4, 2 + 0xbd, 2 + 0xa0, 1});
  CHECK(words.decode(std::span(ids).subspan(3)) == "a\u4f60a");
  CHECK(words.decode(std::span(ids).subspan(3, 3)) == "a\uFFFD\uFFFD");
  CHECK(words.decode(std::span(ids).subspan(4)) == "\u4f60a");
}

TEST_CASE("a long text without spaces takes time in proportion to its length") {
  std::string text;
  for (std::size_t i = 0; i < 1'000'000; ++i) { text += i % 3 == 0 ? 'a' : i % 7 == 0 ? ' ' : 'b'; }
  for (const char* name : {"ties", "bpe", "unigram", "unigram_bytes"}) {
    CAPTURE(name);
    const auto ids = parsed(text_of(packed(), name + std::string("/tokenizer.model"))).encode(text);
    CHECK(ids.size() > 100'000);
  }
}
