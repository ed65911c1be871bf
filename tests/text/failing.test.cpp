// tests/text/failing.test.cpp -- tokenizers and settings of models that are read while memory runs out.
// SPDX-License-Identifier: BSL-1.0
#include "../../src/programs/generate/end_tokens.hpp"
#include "../io/support.hpp"
#include "support/failing_allocations.hpp"
#include "support/sentencepiece_bytes.hpp"
#include <dimwise/models/encoder/keys.hpp>
#include <dimwise/models/sentence_settings.hpp>
#include <dimwise/text/folder.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace dimwise;

namespace {

struct vocab : choice_dim<> {};

// Reads the same while each allocation fails, once and for long: `std::bad_alloc` each time, and no end of the program.
template <class Read>
void fails_by_exceptions(const Read& read, long least) {
  const auto expected = read();
  for (const bool stays : {false, true}) {
    dimwise_test::failing_stays = stays;
    const long failed = dimwise_test::each_allocation_fails([&](const auto& work) {
      bool equal = true;
      if (work([&] { equal = read() == expected; })) { CHECK(equal); }
    });
    dimwise_test::failing_stays = false;
    CHECK(failed > least);
  }
}

void write_gpt2(const dimwise_test::temporary_folder& folder) {
  folder.write("vocab.json", R"({"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3, "c": 4})");
  folder.write("merges.txt", "#version: 0.2\na b\n");
  folder.write("added_tokens.json", R"({"<|end|>": 5, "a token of more than sixteen letters": 6})");
  folder.write("special_tokens_map.json",
               R"({"eos_token": {"content": "<|end|>"}, "additional_special_tokens": ["<|end|>", {"content": "x"}]})");
}

}  // namespace

TEST_CASE("a tokenizer that is read while memory runs out throws and does not terminate") {
  const dimwise_test::temporary_folder gpt2;
  write_gpt2(gpt2);
  fails_by_exceptions([&] { return text::read_tokenizer(gpt2.path(), vocab{7}).fingerprint(); }, 50);
  const dimwise_test::temporary_folder bert;
  bert.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\n##b\n");
  bert.write("tokenizer_config.json", R"({"do_lower_case": true, "x": [[1, [2, "a text of more than sixteen"]]]})");
  fails_by_exceptions([&] { return text::read_tokenizer(bert.path(), vocab{7}, {}, true).fingerprint(); }, 50);
  using namespace dimwise_test::sentencepiece;
  const dimwise_test::temporary_folder llama;
  llama.write("tokenizer.model", trainer(whole(3, 2)) + piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("a", -1) +
                                     piece("b", -2) + piece("ab", -3) + piece("a user-defined piece", 0, 4));
  llama.write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer", "added_tokens_decoder": {
      "6": {"content": "a token of more than sixteen letters", "special": true}}})");
  fails_by_exceptions([&] { return text::read_tokenizer(llama.path(), vocab{7}, {}, true).fingerprint(); }, 50);
}

TEST_CASE("settings that are read while memory runs out throw and do not terminate") {
  const dimwise_test::temporary_folder folder;
  folder.write("config.json", R"({"hidden_size": 4, "eos_token_id": [1, 2], "list": [[1], ["a longer text than 16"]],
      "id2label": {"0": "a label of more than sixteen letters", "1": {"x": [1, [2]]}}})");
  folder.write("tokenizer_config.json", R"({"eos_token": {"content": "<|end|>", "x": [[1], {"y": [2]}]}})");
  std::filesystem::create_directories(folder / "1_Pooling");
  folder.write("1_Pooling/config.json", R"({"embedding_dimension": 4, "pooling_mode": ["mean"]})");
  folder.write("config_sentence_transformers.json", R"({"prompts": {"query": "a question of sixteen letters: "}})");
  fails_by_exceptions([&] {
    const io::config_check config(folder / "config.json");
    return programs::ends_of_text({&config}, 10, true);
  }, 10);
  fails_by_exceptions([&] { return programs::ends_of_turn(folder.path()); }, 10);
  // Not `read_sentence_settings`: it joins paths, and that of libstdc++ 12 crashes where it has no memory for the
  // parts.
  const auto pooling = folder / "1_Pooling/config.json";
  const auto prompts = folder / "config_sentence_transformers.json";
  fails_by_exceptions([&] {
    models::sentence_settings to;
    models::detail::read_pooling(pooling, 4, to);
    models::detail::read_prompts(prompts, to);
    return std::pair(to.how, to.prompts);
  }, 20);
  fails_by_exceptions([&] {
    io::config_check config(folder / "config.json");
    models::encoder_config to;
    models::read_labels(config, to);
    (void)config.words("list");
    const io::detail::held_json names(config.object("id2label"));
    const io::config_check copy(config);
    return std::pair(to.labels, copy.problems().size());
  }, 20);
}

TEST_CASE("a list of lists of ids, and a million levels of nesting, are errors of the file") {
  const dimwise_test::temporary_folder folder;
  folder.write("config.json", R"({"eos_token_id": [1, [2]]})");
  const io::config_check config(folder / "config.json");
  CHECK_THROWS_WITH_AS(
      (void)programs::ends_of_text({&config}, 10, true),
      ((folder / "config.json").string() + ": eos_token_id is a list in a list, a whole number was expected").c_str(),
      io::file_error);
  const std::string deep =
      R"({"eos_token_id": )" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + R"(, "eos_token": 1})";
  for (const char* name : {"config.json", "tokenizer_config.json", "modules.json", "tokenizer.json"}) {
    folder.write(name, deep);
  }
  CHECK_THROWS_AS(io::config_check(folder / "config.json"), io::file_error);
  CHECK_THROWS_AS((void)programs::ends_of_turn(folder.path()), io::file_error);
  CHECK_THROWS_AS((void)models::read_sentence_settings(folder.path()), io::file_error);
  CHECK_THROWS_AS((void)text::read_tokenizer(folder.path(), vocab{7}), io::file_error);
}
