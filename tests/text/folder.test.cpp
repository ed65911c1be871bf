// tests/text/folder.test.cpp -- the tokenizer of a folder, and those of other models.
// SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include <dimwise/text/folder.hpp>

#include <doctest/doctest.h>

using namespace dimwise;

namespace {

struct vocab : choice_dim<> {};

// Letters a, b, c, …, so many, one of them in the place of another where that is said.
std::string letters(std::size_t count, char first = 'a') {
  nlohmann::json words;
  for (std::size_t i = 0; i < count; ++i) { words[std::string(1, static_cast<char>(first + i))] = i; }
  return nlohmann::json{{"model", {{"type", "BPE"}, {"vocab", words}, {"merges", nlohmann::json::array()}}}}.dump();
}

}  // namespace

TEST_CASE("a vocabulary is read with the size of the model, or padded") {
  const dimwise_test::temporary_folder folder;
  const auto told = [&](std::size_t rows) {
    return dimwise_test::message([&] { (void)text::read_tokenizer(folder.path(), vocab{rows}); });
  };
  CHECK(told(5) ==
        folder.path().string() +
            ": tokenizer.json, or vocab.json and merges.txt, or vocab.txt, or tokenizer.model, or spiece.model, or "
            "sentencepiece.bpe.model, or spm.model, or source.spm and vocab.json was expected");
  folder.write("tokenizer.json", letters(5));
  CHECK(told(5).empty());
  CHECK(told(64).empty());
  CHECK(told(4) == (folder / "tokenizer.json").string() +
                       ": the vocabulary has 5 ids, the model has 4 tokens: it belongs to another model");
  CHECK(told(6).find("the vocabulary has 5 ids, the model has 6 tokens") != std::string::npos);
  CHECK(told(32000).find("the vocabulary has 5 ids, the model has 32000 tokens") != std::string::npos);
}

TEST_CASE("a table may be padded, and added tokens may lie beyond it") {
  const dimwise_test::temporary_folder folder;
  nlohmann::json settings = nlohmann::json::parse(letters(5));
  const auto told = [&](std::size_t rows) {
    folder.write("tokenizer.json", settings.dump());
    return dimwise_test::message([&] { (void)text::read_tokenizer(folder.path(), vocab{rows}); });
  };
  settings["added_tokens"] = {{{"id", 5U}, {"content", "<image>"}}};
  CHECK(told(6).empty());
  CHECK(told(5).empty());
  CHECK(told(4).find("the vocabulary has 6 ids, the model has 4 tokens") != std::string::npos);
  settings["added_tokens"].push_back({{"id", 70U}, {"content", "<pad>"}});
  CHECK(told(64).empty());
  CHECK(told(65).find("the vocabulary has 71 ids, the model has 65 tokens") != std::string::npos);
  const auto words = text::read_tokenizer(folder.path(), vocab{64});
  CHECK(words.vocabulary_size() == 5);
  CHECK(words.size() == 71);
  CHECK(words.encode("a<pad>") == std::vector{id<vocab>{0}, id<vocab>{70}});
  // A few rows of no multiple of 64, as OPT and NLLB have: at most one in 256.
  settings["added_tokens"] = {{{"id", 50264U}, {"content", "<last>"}}};
  CHECK(told(50272).empty());
  CHECK(told(50462).empty());
  CHECK(told(50463).find("the vocabulary has 50265 ids, the model has 50463 tokens") != std::string::npos);
  // Below 1024 rows, or below a sixteenth of them.
  settings["added_tokens"] = {{{"id", 99999U}, {"content", "<last>"}}};
  CHECK(told(102400).empty());
  CHECK(told(106688).find("the vocabulary has 100000 ids") != std::string::npos);
}

TEST_CASE("added_tokens.json adds to GPT-2's two files") {
  const dimwise_test::temporary_folder folder;
  folder.write("vocab.json", R"({"a": 0, "b": 1, "<|endoftext|>": 2})");
  folder.write("merges.txt", "#version: 0.2\n");
  folder.write("added_tokens.json", R"({"<pad>": 3, "<|endoftext|>": 2, "<x>": 4})");
  folder.write("special_tokens_map.json", R"({"pad_token": {"content": "<pad>"}, "additional_special_tokens": []})");
  const auto words = text::read_tokenizer(folder.path(), vocab{5});
  const auto ids = words.encode("a<pad>b<x>");
  CHECK(ids == std::vector{id<vocab>{0}, id<vocab>{3}, id<vocab>{1}, id<vocab>{4}});
  CHECK(words.decode(ids) == "ab<x>");
  folder.write("added_tokens.json", R"({"<pad>": 1})");
  CHECK(dimwise_test::message([&] {
    (void)text::read_tokenizer(folder.path(), vocab{3});
  }).find("the added token \"<pad>\" has the id 1") != std::string::npos);
  folder.write("added_tokens.json", "[]");
  CHECK(dimwise_test::message([&] { (void)text::read_tokenizer(folder.path(), vocab{3}); }) ==
        (folder / "added_tokens.json").string() + ": an object of tokens and ids was expected");
}

TEST_CASE("a vocabulary of the same size from another model is found by its fingerprint") {
  const dimwise_test::temporary_folder folder;
  folder.write("tokenizer.json", letters(5));
  const auto words = text::read_tokenizer(folder.path(), vocab{5});
  CHECK(words.fingerprint() == "f1f7bb6ebc084ce4");
  const std::map<std::string, std::string> metadata{{text::fingerprint_key, words.fingerprint()}};
  CHECK(text::read_tokenizer(folder.path(), vocab{5}, metadata).size() == 5);
  folder.write("tokenizer.json", letters(5, 'b'));
  const auto told = dimwise_test::message([&] { (void)text::read_tokenizer(folder.path(), vocab{5}, metadata); });
  CHECK(told.find("the model expects \"" + words.fingerprint() + "\": it belongs to another model") !=
        std::string::npos);
  CHECK(text::read_tokenizer(folder.path(), vocab{5}).size() == 5);
  folder.write("tokenizer.fingerprint", words.fingerprint() + "\n");
  CHECK(dimwise_test::message([&] { (void)text::read_tokenizer(folder.path(), vocab{5}); }) == told);
}

TEST_CASE("GPT-2's two files are read where there is no tokenizer.json") {
  const dimwise_test::temporary_folder folder;
  folder.write("vocab.json", R"({"a": 0, "b": 1, "ab": 2})");
  CHECK(dimwise_test::message([&] {
    (void)text::read_tokenizer(folder.path(), vocab{3});
  }).find("tokenizer.json, or vocab.json and merges.txt, or vocab.txt, or tokenizer.model") != std::string::npos);
  folder.write("merges.txt", "#version: 0.2\na b\n");
  const auto words = text::read_tokenizer(folder.path(), vocab{3});
  CHECK(words.encode("abba") == std::vector{id<vocab>{2}, id<vocab>{1}, id<vocab>{0}});
}

TEST_CASE("a bad line of merges.txt is told with its file and number") {
  const dimwise_test::temporary_folder folder;
  folder.write("vocab.json", R"({"a": 0, "b": 1, "ab": 2})");
  const auto told = [&](const std::string& merges) {
    folder.write("merges.txt", merges);
    return dimwise_test::message([&] { (void)text::read_tokenizer(folder.path(), vocab{3}); });
  };
  const std::string file = (folder / "merges.txt").string();
  CHECK(told("#version: 0.2\r\n\r\na b\r\n").empty());
  CHECK(told("#version: 0.2\na b\na\n") == file + ": line 3: the merge \"a\" is not a pair");
  CHECK(told("a b\n\na b a") == file + ": line 3: the merge \"a b a\" is not a pair");
  CHECK(told(" b\n") == file + ": line 1: the merge \" b\" is not a pair");
  CHECK(told("a \n") == file + ": line 1: the merge \"a \" is not a pair");
  CHECK(told("a c\n") == file + ": line 1: the merge of \"a\" and \"c\" is not in the vocabulary");
}

TEST_CASE("texts are lower-cased before the normalizer where a folder says so") {
  const dimwise_test::temporary_folder folder;
  folder.write("tokenizer.json", letters(5));
  const auto read = [&](bool lower_case) {
    return text::read_tokenizer(folder.path(), vocab{5}, {}, lower_case).encode("aBc").size();
  };
  CHECK(read(false) == 2);
  CHECK(read(true) == 3);
  nlohmann::json settings = nlohmann::json::parse(letters(5));
  settings["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", "b"}}}, {"content", ""}};
  folder.write("tokenizer.json", settings.dump());
  CHECK(read(true) == 2);
  folder.write("vocab.json", R"({"a": 0, "b": 1, "c": 2, "d": 3, "e": 4})");
  folder.write("merges.txt", "");
  std::filesystem::remove(folder / "tokenizer.json");
  CHECK(read(false) == 2);
  CHECK(read(true) == 3);
}
