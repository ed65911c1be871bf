// tests/models/encoder_decoders_like_bart.test.cpp -- BART and its descendants, and UMT5: logits, continuations, every
// convention, and what is rejected.
//
// The numbers of every architecture are also compared by the conformance suite `encoder_decoders`.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/encoder_decoders.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace dimwise;

namespace {

using model = models::encoder_decoder<>;
using token = model::token;
using description = models::encoder_decoder_description;

struct case_folder : dimwise_test::model_folder {
  explicit case_folder(const std::string& name) : model_folder(name, "encoder_decoders.dwpack") {}
  // How far the logits of this model are from the expected ones.
  [[nodiscard]] double error(const model& m) const {
    auto state = m.start(ids<token>("enc.2.input_ids"), 40);
    const auto logits = m.logits(m.features(ids<token>("dec.2.input_ids"), state));
    const auto expected = numbers("dec.2.logits_f64");
    REQUIRE(expected.size() == logits.size());
    double most = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double d = std::abs(static_cast<double>(logits.values()[i]) - expected[i]);
      most = d <= most ? most : d;  // a NaN is kept
    }
    return most;
  }
  [[nodiscard]] double error() const { return error(models::read_encoder_decoder(path())); }
  // The error after a change of the configuration.
  [[nodiscard]] double error_with(const std::string& from, const std::string& to) const {
    change(from, to);
    return error();
  }
  // The error of a model with other settings than those of its folder.
  template <class Change>
  [[nodiscard]] double error_after(const Change& other) const {
    model m = models::read_encoder_decoder(path());
    other(m);
    return error(m);
  }
  // The message of a configuration in which `from` is `to`.
  [[nodiscard]] std::string told(const std::string& from, const std::string& to) const {
    change(from, to);
    return dimwise_test::message([&] { (void)models::read_encoder_decoder(path()); });
  }
};

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}
void set_both(model& m, const auto& change) {
  change(m.config.encoder);
  change(m.encoder.config);
}

// float32 against float64: logits are up to 6, computed by five layers.
constexpr double near_enough = 5e-5;

}  // namespace

TEST_CASE("logits and continuations are those computed in float64") {
  for (const char* name : {"bart", "mbart", "marian", "pegasus", "m2m_100", "umt5"}) {
    CAPTURE(name);
    const case_folder folder(name);
    const model m = models::read_encoder_decoder(folder.path());
    CHECK(m.encoder.blocks.size() == 3);
    CHECK(m.blocks.size() == 2);
    CHECK(folder.error(m) < near_enough);
    const auto expected = folder.ids<token>("dec.2.greedy_ids");
    auto state = m.start(folder.ids<token>("enc.2.input_ids"), 40);
    CHECK(models::generate_greedy(m, folder.ids<token>("dec.2.input_ids"), expected.size(), state) == expected);
  }
}

TEST_CASE("each convention of BART and its descendants changes the logits") {
  const auto without_offset = [](model& m) { set_both(m, [](models::encoder_config& c) { c.first_position = 0; }); };
  CHECK(case_folder("bart").error_after(without_offset) > 1e-2);
  CHECK(case_folder("mbart").error_after(without_offset) > 1e-2);
  CHECK(case_folder("bart").error_after([](model& m) { m.embedding_norm.clear(); }) > 1e-2);
  CHECK(case_folder("mbart").error_after([](model& m) { m.encoder.embedding_norm.clear(); }) > 1e-2);
  CHECK(case_folder("bart").error_after([](model& m) { m.logit_bias.clear(); }) > 1e-2);
  CHECK(case_folder("bart").error_with("\"activation_function\": \"gelu\"", "\"activation_function\": \"relu\"") >
        1e-2);
  for (const char* name : {"mbart", "marian", "pegasus", "m2m_100"}) {
    CAPTURE(name);
    CHECK(case_folder(name).error_with("\"scale_embedding\": true", "\"scale_embedding\": false") > 1e-2);
  }
  for (const char* name : {"bart", "mbart"}) {
    CAPTURE(name);
    CHECK(case_folder(name).error_after([](model& m) { m.config.encoder.norm_first = !m.config.encoder.norm_first; }) >
          1e-2);
  }
  const auto other_sinusoids = [](models::sinusoid_kind kind) {
    return [kind](model& m) { set_both(m, [kind](models::encoder_config& c) { c.sinusoid = kind; }); };
  };
  CHECK(case_folder("marian").error_after(other_sinusoids(models::sinusoid_kind::closed_halves)) > 1e-2);
  CHECK(case_folder("pegasus").error_after(other_sinusoids(models::sinusoid_kind::closed_halves)) > 1e-2);
  CHECK(case_folder("m2m_100").error_after(other_sinusoids(models::sinusoid_kind::halves)) > 1e-2);
  CHECK(case_folder("m2m_100").error_after(
            [](model& m) { set_both(m, [](models::encoder_config& c) { c.positions_skip_padding = false; }); }) > 1e-2);
  CHECK(case_folder("umt5").error_after([](model& m) { m.distances.resize(1); }) > 1e-2);
  CHECK(case_folder("umt5").error_after([](model& m) { m.encoder.distances.resize(1); }) > 1e-2);
}

TEST_CASE("a text begins with the forced token, and excluded tokens are not written") {
  CHECK(models::read_encoder_decoder(case_folder("bart").path()).first() == std::vector{token{2}, token{0}});
  CHECK(models::read_encoder_decoder(case_folder("pegasus").path()).first() == std::vector{token{0}});
  const auto first = [](const char* name, const char* absent, const nlohmann::json& others) {
    const case_folder folder(name);
    nlohmann::json settings = nlohmann::json::parse(folder.text("config.json"));
    settings.erase(absent);
    settings.update(others);
    const io::archive weights = io::read_safetensors(folder / "model.safetensors");
    return models::read_encoder_decoder(io::config_check(settings, "config.json"), weights).first();
  };
  CHECK(first("bart", "forced_bos_token_id", {{"bos_token_id", 5}}) == std::vector{token{2}});
  const nlohmann::json forced{{"bos_token_id", 5}, {"force_bos_token_to_be_generated", true}};
  CHECK(first("bart", "forced_bos_token_id", forced) == std::vector{token{2}, token{5}});
  CHECK(first("bart", "", forced) == std::vector{token{2}, token{0}});
  CHECK(first("mbart", "decoder_start_token_id", {{"bos_token_id", 5}}) == std::vector{token{5}});
  const case_folder folder("marian");
  const model m = models::read_encoder_decoder(folder.path());
  auto state = m.start(folder.ids<token>("enc.1.input_ids"), 40);
  const auto logits = m.next(m.first(), state);
  CHECK(std::isinf(logits(token{43})));
  CHECK(std::count_if(logits.values().begin(), logits.values().end(), [](float x) { return std::isinf(x); }) == 1);
}

TEST_CASE("tokens that end a text are not excluded") {
  const auto never = [](const char* name, const nlohmann::json& others) {
    const case_folder folder(name);
    nlohmann::json settings = nlohmann::json::parse(folder.text("config.json"));
    settings.erase("eos_token_id");
    settings.update(others);
    io::config_check config(settings, "config.json");
    const auto& all = models::known_encoder_decoders();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& a) { return a.model_type == settings.at("model_type"); });
    auto tokens = found->read(config, io::read_safetensors(folder / "model.safetensors")).config.never;
    config.finish();
    return tokens;
  };
  using ids = std::vector<std::size_t>;
  const nlohmann::json all = nlohmann::json::parse("[[0], [1], [2], [5]]");
  CHECK(never("marian", {{"bad_words_ids", all}, {"eos_token_id", 5}}) == ids{0, 1, 2});
  CHECK(never("marian", {{"bad_words_ids", all}, {"eos_token_id", {5, 1}}}) == ids{0, 2});
  CHECK(never("marian", {{"bad_words_ids", all}, {"eos_token_id", nullptr}}) == ids{0, 1, 2, 5});
  // Without the setting a text ends as the class says.
  CHECK(never("marian", {{"bad_words_ids", all}}) == ids{1, 2, 5});
  CHECK(never("pegasus", {{"bad_words_ids", all}}) == ids{0, 2, 5});
  CHECK(never("umt5", {{"bad_words_ids", all}}) == ids{0, 2, 5});
  for (const char* name : {"bart", "mbart", "m2m_100"}) {
    CAPTURE(name);
    CHECK(never(name, {{"bad_words_ids", all}}) == ids{0, 1, 5});
  }
  CHECK(has(dimwise_test::message([&] { (void)never("marian", {{"eos_token_id", "x"}}); }),
            "eos_token_id is \"x\", a whole number was expected"));
}

TEST_CASE("a text has at most as many tokens as the model has positions") {
  for (const char* name : {"bart", "marian"}) {
    CAPTURE(name);
    const case_folder folder(name);
    const model m = models::read_encoder_decoder(folder.path());
    auto state = m.start(folder.ids<token>("enc.1.input_ids"), 64);
    (void)m.features(std::vector<token>(40, token{3}), state);
    CHECK(has(dimwise_test::message([&] { (void)m.next(std::vector{token{3}}, state); }),
              "the text would have 41 tokens, the decoder takes 40"));
    CHECK(state.past.front().end() == 40);
    CHECK(has(dimwise_test::message([&] { (void)m.encoded(std::vector<token>(41, token{3})); }), "the model takes 40"));
  }
}

TEST_CASE("settings that are not read are rejected by name") {
  const auto bart = [](const char* from, const char* to) { return case_folder("bart").told(from, to); };
  CHECK(has(bart("\"decoder_ffn_dim\": 28", "\"decoder_ffn_dim\": 20"), "decoder_ffn_dim is 20, the encoder has 28"));
  CHECK(has(bart("\"decoder_attention_heads\": 4", "\"decoder_attention_heads\": 2"), "decoder_attention_heads is 2"));
  CHECK(has(bart("\"forced_bos_token_id\": 0", "\"forced_bos_token_id\": 44"), "forced_bos_token_id is 44"));
  CHECK(has(bart("\"decoder_start_token_id\": 2", "\"decoder_start_token_id\": 44"), "decoder_start_token_id is 44"));
  CHECK(has(bart("\"max_position_embeddings\": 40", "\"max_position_embeddings\": 41"), "embed_positions"));
  const auto marian = [](const char* from, const char* to) { return case_folder("marian").told(from, to); };
  CHECK(has(marian("\"vocab_size\"", "\"share_encoder_decoder_embeddings\": false, \"vocab_size\""),
            "share_encoder_decoder_embeddings is false"));
  CHECK(has(marian("\"bad_words_ids\": [\n  [\n   43", "\"bad_words_ids\": [\n  [\n   44"), "bad_words_ids"));
}
