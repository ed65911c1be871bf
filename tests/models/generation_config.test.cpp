// tests/models/generation_config.test.cpp -- generation_config.json: every setting, absent ones, and invalid ones.
// SPDX-License-Identifier: BSL-1.0
#include "io/support.hpp"
#include <dimwise/models/generation_config.hpp>

#include <doctest/doctest.h>

using namespace dimwise;

namespace {

using ids = std::vector<std::size_t>;

models::generation_config of(const std::string& text) {
  return models::generation_config_of(io::config_check(nlohmann::json::parse(text), "generation_config.json"));
}
std::string told(const std::string& text) {
  return dimwise_test::message([&] { (void)of(text); });
}

}  // namespace

TEST_CASE("generation_config.json is read, and absent settings are empty") {
  const auto all =
      of(R"({"eos_token_id": [2, 7], "suppress_tokens": [1, 3], "begin_suppress_tokens": 4, "do_sample": true,
      "temperature": 0.6, "top_p": 0.9, "min_p": 0, "repetition_penalty": 1.1, "top_k": 20, "max_new_tokens": 30,
      "max_length": 64, "num_beams": 4, "transformers_version": "4.51.0"})");
  CHECK(all.ends == ids{2, 7});
  CHECK(all.suppressed == ids{1, 3});
  CHECK(all.first_suppressed == ids{4});
  CHECK(all.samples == true);
  CHECK(all.temperature == 0.6);
  CHECK(all.top_p == 0.9);
  CHECK(all.min_p == 0.0);
  CHECK(all.repetition_penalty == 1.1);
  CHECK(all.top_k == 20U);
  CHECK(all.max_new_tokens == 30U);
  CHECK(all.max_length == 64U);
  const auto none = of(R"({"eos_token_id": null, "temperature": null, "suppress_tokens": []})");
  CHECK(none.ends.empty());
  CHECK(none.suppressed.empty());
  CHECK(!none.samples);
  CHECK(!none.temperature);
  CHECK(!none.top_k);
  CHECK(!none.max_new_tokens);
  CHECK(of(R"({"suppress_tokens": [-1, 5]})").suppressed == ids{5});
}

TEST_CASE("invalid settings of generation_config.json are rejected by name") {
  const std::string begin = "generation_config.json: the settings do not fit the model:\n  ";
  CHECK(told(R"({"suppress_tokens": [1.5]})") == begin + "suppress_tokens is 1.5, a whole number was expected");
  CHECK(told(R"({"eos_token_id": "</s>"})").find("eos_token_id is \"</s>\"") != std::string::npos);
  CHECK(told(R"({"eos_token_id": 18446744073709551615})") ==
        begin + "eos_token_id is 18446744073709551615, a whole number from -2^63 to 2^63 - 1 was expected");
  CHECK(told(R"({"eos_token_id": [1e30]})").find("from -2^63 to 2^63 - 1 was expected") != std::string::npos);
  CHECK(told(R"({"begin_suppress_tokens": [[1]]})").find("is a list in a list, a whole") != std::string::npos);
  CHECK(told(R"({"begin_suppress_tokens": {"a": 1}})").find("is an object, a whole") != std::string::npos);
  CHECK(told(R"({"bad_words_ids": 3})").find("bad_words_ids is not a list") != std::string::npos);
  CHECK(told(R"({"bad_words_ids": [3]})").find("bad_words_ids has an entry that is not a list") != std::string::npos);
  CHECK(told(R"({"bad_words_ids": [["x"]]})").find("an id of bad_words_ids is \"x\"") != std::string::npos);
  // Every one of several is listed.
  const std::string several =
      told(R"({"temperature": -1, "top_p": 1.5, "repetition_penalty": 0, "top_k": 2.5, "max_new_tokens": -3,
          "do_sample": "yes", "eos_token_id": 0.5, "suppress_tokens": ["a", 1, "b"], "bad_words_ids": [[0.25]]})");
  for (const char* key :
       {"temperature", "top_p is above 1", "repetition_penalty", "top_k", "max_new_tokens", "do_sample", "eos_token_id",
        "suppress_tokens is \"a\"", "suppress_tokens is \"b\"", "bad_words_ids is 0.25"}) {
    CAPTURE(key);
    CHECK(several.find(key) != std::string::npos);
  }
}

TEST_CASE("top_k of -1 means all tokens, as 0 does") {
  CHECK(of(R"({"top_k": -1})").top_k == 0U);
  CHECK(told(R"({"top_k": -2})").find("top_k is -2") != std::string::npos);
}

TEST_CASE("bad_words_ids suppress single tokens that do not end a text") {
  const auto all = of(R"({"suppress_tokens": [1], "bad_words_ids": [[4], [5, 6], [2]], "eos_token_id": 2})");
  CHECK(all.suppressed == ids{1, 4});
  CHECK(all.unused == std::vector<std::string>{"lists of several tokens in bad_words_ids"});
}

TEST_CASE("settings that would change the text and are not read are listed") {
  const auto names = std::vector<std::string>{"min_length", "no_repeat_ngram_size", "typical_p",
                                              "num_beams",  "forced_decoder_ids",   "forced_eos_token_id"};
  CHECK(of(R"({"min_length": 5, "no_repeat_ngram_size": 3, "typical_p": 0.5, "num_beams": 4,
      "forced_decoder_ids": [[1, 5]], "forced_eos_token_id": 2})")
            .unused == names);
  CHECK(of(R"({"max_time": 2.5, "token_healing": true})").unused ==
        std::vector<std::string>{"max_time", "token_healing"});
  CHECK(of(R"({"min_length": 0, "no_repeat_ngram_size": 0, "typical_p": 1.0, "num_beams": 1, "length_penalty": 2,
      "forced_decoder_ids": [], "forced_eos_token_id": null, "guidance_scale": 1, "early_stopping": true,
      "max_time": null, "token_healing": false})")
            .unused.empty());
}

TEST_CASE("without generation_config.json the settings in config.json that are no defaults are read") {
  const dimwise_test::temporary_folder folder;
  folder.write("config.json",
               R"({"vocab_size": 10, "max_length": 142, "min_length": 56, "num_beams": 4, "eos_token_id": 2,
      "no_repeat_ngram_size": 3, "length_penalty": 2.0, "temperature": 1.0, "top_k": 50, "do_sample": false,
      "bad_words_ids": [[4], [2], [5, 6]], "forced_eos_token_id": 2})");
  const auto read = models::read_generation_config(folder.path());
  CHECK(read.max_length == 142U);
  CHECK(read.ends == ids{2});
  CHECK(read.suppressed == ids{4});
  CHECK(!read.temperature);
  CHECK(!read.top_k);
  CHECK(!read.samples);
  CHECK(read.unused == std::vector<std::string>{"min_length", "no_repeat_ngram_size", "num_beams",
                                                "forced_eos_token_id", "lists of several tokens in bad_words_ids"});
  CHECK(models::settings_with_generation(folder.path()).setting("bad_words_ids").size() == 3);
  folder.write("config.json", R"({"max_length": 20, "do_sample": true, "temperature": 0.5, "top_p": 2})");
  CHECK(dimwise_test::message([&] { (void)models::read_generation_config(folder.path()); }) ==
        (folder.path() / "config.json").string() + ": the settings do not fit the model:\n  top_p is above 1");
  folder.write("generation_config.json", "{}");
  CHECK(!models::read_generation_config(folder.path()).samples);
}

TEST_CASE("an error about a setting of generation_config.json names this file") {
  const dimwise_test::temporary_folder folder;
  folder.write("config.json", R"({"forced_bos_token_id": 3, "vocab_size": 10})");
  folder.write("generation_config.json", R"({"forced_bos_token_id": 99, "bad_words_ids": [[4], [5, 6], [7]],
      "eos_token_id": [7, 8]})");
  auto both = models::settings_with_generation(folder.path());
  CHECK(both.setting("bad_words_ids").dump() == "[[4]]");
  both.differs("forced_bos_token_id is 99");
  both.differs("forced_bos_token_ids is another key");
  both.differs("vocab_size is 10");
  const std::string file = (folder.path() / "generation_config.json").string();
  CHECK(both.problems() == std::vector<std::string>{file + ": forced_bos_token_id is 99",
                                                    "forced_bos_token_ids is another key", "vocab_size is 10"});
}

TEST_CASE("tokens that a text begins with are those of generation_config.json, if it has them") {
  const dimwise_test::temporary_folder folder;
  folder.write("config.json", R"({"decoder_start_token_id": 2, "forced_bos_token_id": 3, "vocab_size": 10})");
  CHECK(models::settings_with_generation(folder.path()).setting("forced_bos_token_id") == 3);
  CHECK(models::read_generation_config(folder.path()).ends.empty());
  folder.write("generation_config.json", R"({"forced_bos_token_id": 5, "bad_words_ids": [[1], [4]], "vocab_size": 99,
      "decoder_start_token_id": null, "eos_token_id": 1})");
  const auto both = models::settings_with_generation(folder.path());
  CHECK(both.setting("forced_bos_token_id") == 5);
  CHECK(both.setting("decoder_start_token_id") == 2);
  CHECK(both.setting("bad_words_ids").dump() == "[[4]]");
  CHECK(both.setting("vocab_size") == 10);
  CHECK(models::read_generation_config(folder.path()).ends == ids{1});
}
