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
  CHECK(told(R"({"suppress_tokens": [1.5]})") ==
        "generation_config.json: suppress_tokens is 1.5, a whole number was expected");
  CHECK(told(R"({"eos_token_id": "</s>"})").find("eos_token_id is \"</s>\"") != std::string::npos);
  CHECK(told(R"({"eos_token_id": 18446744073709551615})").find("a whole number was expected") != std::string::npos);
  CHECK(told(R"({"begin_suppress_tokens": [[1]]})").find("a list or an object in a list") != std::string::npos);
  // Every one of several is listed.
  const std::string several =
      told(R"({"temperature": -1, "top_p": 1.5, "repetition_penalty": 0, "top_k": 2.5, "max_new_tokens": -3,
          "do_sample": "yes"})");
  for (const char* key :
       {"temperature", "top_p is above 1", "repetition_penalty", "top_k", "max_new_tokens", "do_sample"}) {
    CAPTURE(key);
    CHECK(several.find(key) != std::string::npos);
  }
}

TEST_CASE("tokens that a text begins with are those of generation_config.json, if it has them") {
  const dimwise_test::temporary_folder folder;
  folder.write("config.json", R"({"decoder_start_token_id": 2, "forced_bos_token_id": 3, "vocab_size": 10})");
  CHECK(models::settings_with_generation(folder.path()).setting("forced_bos_token_id") == 3);
  CHECK(models::read_generation_config(folder.path()).ends.empty());
  folder.write("generation_config.json", R"({"forced_bos_token_id": 5, "bad_words_ids": [[4]], "vocab_size": 99,
      "decoder_start_token_id": null, "eos_token_id": 1})");
  const auto both = models::settings_with_generation(folder.path());
  CHECK(both.setting("forced_bos_token_id") == 5);
  CHECK(both.setting("decoder_start_token_id") == 2);
  CHECK(both.setting("bad_words_ids").dump() == "[[4]]");
  CHECK(both.setting("vocab_size") == 10);
  CHECK(models::read_generation_config(folder.path()).ends == ids{1});
}
