// tests/models/encoder_decoder.test.cpp -- encoder-decoders: states, low-precision weights, defaults of families, and
// what is rejected.
//
// The numbers of every architecture are compared by the conformance suite `architectures`.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/encoder_decoders.hpp>
#include <dimwise/models/encoders.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

using namespace dimwise;

namespace {

using model = models::encoder_decoder<>;
using token = model::token;

struct case_folder : dimwise_test::model_folder {
  explicit case_folder(const std::string& name) : model_folder(name, "architectures_encoder_decoders.dwpack") {}
  [[nodiscard]] std::vector<token> source() const { return ids<token>("enc.2.input_ids"); }
  [[nodiscard]] std::vector<token> target() const { return ids<token>("dec.2.input_ids"); }
  // The message of a configuration in which `from` is `to`.
  [[nodiscard]] std::string told(const std::string& from, const std::string& to) const {
    change(from, to);
    return dimwise_test::message([&] { (void)models::read_encoder_decoder(path()); });
  }
  // How far the logits of a model of this folder are from the expected ones.
  template <class Weights>
  [[nodiscard]] double error() const {
    const auto m = models::read_encoder_decoder<models::encoder_decoder_dims, Weights>(path());
    auto state = m.start(source(), 64);
    const auto logits = m.logits(m.features(target(), state));
    return distance(logits.values());
  }
  [[nodiscard]] double distance(std::span<const float> logits) const {
    const auto expected = numbers("dec.2.logits_f64");
    REQUIRE(expected.size() == logits.size());
    double most = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double d = std::abs(static_cast<double>(logits[i]) - expected[i]);
      most = d <= most ? most : d;  // a NaN is kept
    }
    return most;
  }
};

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

struct narrow : models::encoder_decoder_dims {
  struct d_model : feature_dim<24> {};
};

}  // namespace

TEST_CASE("a folder of T5 is continued as the suite expects") {
  for (const char* name : {"t5-relu", "t5-gated"}) {
    CAPTURE(name);
    const case_folder folder(name);
    const model m = models::read_encoder_decoder(folder.path());
    CHECK(m.first() == std::vector<token>{token{0}});
    auto state = m.start(folder.source(), 64);
    const auto expected = folder.ids<token>("dec.2.greedy_ids");
    CHECK(models::generate_greedy(m, folder.target(), expected.size(), state) == expected);
  }
}

TEST_CASE("each setting of T5 changes the logits") {
  // Epsilon, the reach of the buckets, the tanh form of gelu, and the scale of tied logits.
  const case_folder relu("t5-relu");
  const case_folder gated("t5-gated");
  CHECK(relu.error<float>() < 2e-5);
  CHECK(gated.error<float>() < 5e-5);
  const auto error_with = [](const case_folder& folder, const char* from, const char* to) {
    folder.change(from, to);
    return folder.error<float>();
  };
  CHECK(error_with(relu, "\"layer_norm_epsilon\": 0.0001", "\"layer_norm_epsilon\": 0.000001") > 2e-4);
  CHECK(error_with(relu, "\"relative_attention_max_distance\": 128", "\"relative_attention_max_distance\": 20") > 1e-3);
  CHECK(error_with(relu, "\"use_cache\"", "\"scale_decoder_outputs\": false, \"use_cache\"") > 1e-2);
  CHECK(error_with(gated, "\"dense_act_fn\": \"gelu_new\"", "\"dense_act_fn\": \"gelu\"") > 2e-4);
  // Without the keys that say the same, `feed_forward_proj` counts.
  CHECK(error_with(gated, "\"dense_act_fn\": \"gelu_new\",", "") < 1e-4);
  CHECK(error_with(gated, "\"is_gated_act\": true,", "") < 1e-4);
}

TEST_CASE("weights of low precision change the logits little") {
  const case_folder folder("t5-gated");
  // bfloat16 has 8 bits of precision; blocks of 8 bits have steps of 1/254 of their largest number. Logits are up to
  // 7.5, and the small embeddings of this model make the errors large: 0.18 and 0.38.
  const double half = folder.error<bfloat16>();
  CHECK(half < 0.3);
  CHECK(half > 1e-4);
  const double blocks = folder.error<nn::int8_blocks>();
  CHECK(blocks < 0.6);
  CHECK(blocks > 1e-4);
}

TEST_CASE("the encoder of a folder of T5 is read alone") {
  const case_folder folder("t5-gated");
  const auto encoder = models::read_encoder(folder.path());
  std::vector<models::encoder<>::token> text;
  for (const token t : folder.source()) { text.emplace_back(t.value); }
  const auto x = encoder.features(text);
  const auto expected = models::read_encoder_decoder(folder.path()).encoded(folder.source());
  REQUIRE(x.size() == expected.size());
  CHECK(std::equal(x.values().begin(), x.values().end(), expected.values().begin()));
}

TEST_CASE("every attention is one kernel, and nothing runs by the scalar path") {
  const case_folder folder("t5-relu");
  const model m = models::read_encoder_decoder(folder.path());
  const auto ran = [](plan_kind kind) { return plans_run()[kind]; };
  reset_plans();
  auto state = m.start(folder.source(), 64);
  CHECK(ran(plan_kind::attention) == 2);  // the layers of the encoder
  (void)m.features(folder.target(), state);
  CHECK(ran(plan_kind::attention) == 2 + 4);  // to the past and to the source, in two layers
  (void)m.next(m.first(), state);
  CHECK(ran(plan_kind::decode) == 4);
  CHECK(ran(plan_kind::plain) == 0);
  // A token needs no keys and values of the source: four maps for the past, two for the source, two of the feed-forward
  // layer, and the logits.
  reset_plans();
  (void)m.next(m.first(), state);
  CHECK(ran(plan_kind::product) == 2 * (4 + 2 + 2) + 1);
}

TEST_CASE("a call that throws leaves the state as it was") {
  const case_folder folder("t5-relu");
  const model m = models::read_encoder_decoder(folder.path());
  const auto target = folder.target();
  auto state = m.start(folder.source(), target.size());
  const std::vector<token> too_many(target.size() + 1, token{3});
  const std::vector<token> outside{token{3}, token{80}};
  CHECK_THROWS_AS(static_cast<void>(m.features(too_many, state)), extent_error);
  CHECK_THROWS_AS(static_cast<void>(m.features(outside, state)), index_error);
  CHECK_THROWS_WITH_AS(static_cast<void>(m.next({}, state)), "next: no tokens were given", extent_error);
  CHECK(state.past.front().end() == 0);
  const auto logits = m.logits(m.features(target, state));
  CHECK(folder.distance(logits.values()) < 1e-4);
  CHECK_THROWS_AS(static_cast<void>(m.next(m.first(), state)), extent_error);  // full

  model::state none;
  CHECK_THROWS_WITH_AS(
      static_cast<void>(m.next(m.first(), none)),
      "features: the decoder has 2 layers, but the state has 0 caches and 0 sources; `start` makes one "
      "(R10)",
      extent_error);
  auto uneven = m.start(folder.source(), 8);
  (void)m.next(m.first(), uneven);
  uneven.past.back().forget(1);
  CHECK_THROWS_AS(static_cast<void>(m.next(m.first(), uneven)), origin_error);
  CHECK_THROWS_AS(static_cast<void>(m.start(std::vector<token>(), 8)), extent_error);
}

TEST_CASE("settings and arrays that do not fit are rejected by name") {
  const case_folder folder("t5-relu");
  CHECK(
      has(folder.told("\"t5\"", "\"bort\""),
          "model_type is \"bort\"; the encoder-decoders that are read are bart, m2m_100, marian, mbart, mt5, pegasus, "
          "t5, umt5"));
  CHECK(has(folder.told("\"dense_act_fn\": \"relu\"", "\"dense_act_fn\": \"mish\""), "dense_act_fn is \"mish\""));
  CHECK(has(folder.told("\"use_cache\"", "\"quantization_config\": {\"bits\": 4}, \"use_cache\""),
            "quantization_config is not supported"));
  CHECK(has(folder.told("\"decoder_start_token_id\": 0", "\"decoder_start_token_id\": 80"),
            "decoder_start_token_id is 80, the vocabulary has 80 tokens"));
  CHECK(
      has(folder.told("\"num_decoder_layers\": 2", "\"num_decoder_layers\": 1099511627776"), "num_decoder_layers is"));
  CHECK(has(folder.told("\"num_decoder_layers\": 2", "\"num_decoder_layers\": 1"), "decoder.block.1."));
  CHECK(has(folder.told("\"num_decoder_layers\": 2", "\"num_decoder_layers\": 3"),
            "\"decoder.block.2.layer.0.layer_norm.weight\" is missing"));
  CHECK(has(folder.told("\"d_kv\": 8", "\"d_kv\": 16"), "does not fit"));
  CHECK(has(folder.told("\"use_cache\"", "\"tie_word_embeddings\": false, \"use_cache\""),
            "\"lm_head.weight\" is missing"));
  const case_folder own("t5-gated");
  CHECK(has(own.told("\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true"),
            "\"lm_head.weight\" (F32 [80, 32]) is not the same as \"shared.weight\""));
  CHECK(has(dimwise_test::message([&] { (void)models::read_encoder_decoder<narrow>(case_folder("t5-relu").path()); }),
            "the hidden size is 32, but d_model has extent 24"));
}

TEST_CASE("absent keys have the defaults of the class") {
  const io::archive none("none");
  const auto plan = [&](const char* text) {
    io::config_check config(nlohmann::json::parse(text), "config.json");
    const auto& all = models::known_encoder_decoders();
    const auto kind = config.word("model_type");
    return std::find_if(all.begin(), all.end(), [&](const auto& a) {
      return a.model_type == kind;
    })->read(config, none);
  };
  const auto t5 = plan(R"({"model_type":"t5","d_kv":null})").config;
  CHECK(t5.encoder.extents.vocab == 32128);
  CHECK(t5.encoder.extents.of_head == 64);
  CHECK_FALSE(t5.encoder.feed.gated);
  CHECK(t5.tied);
  CHECK(t5.logit_scale == doctest::Approx(1 / std::sqrt(512.0)));
  const auto mt5 = plan(R"({"model_type":"mt5"})").config;
  CHECK(mt5.encoder.extents.heads == 6);
  CHECK(mt5.encoder.feed.gated);
  CHECK(mt5.encoder.feed.activation == models::activation_kind::gelu_tanh);
  CHECK_FALSE(mt5.tied);
  CHECK(mt5.logit_scale == 1);
}

TEST_CASE("the table of the documentation lists every encoder-decoder") {
  std::ifstream page(dimwise_test::data_file("../../docs/reference/models.md"));
  REQUIRE(page);
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  for (const auto& one : models::known_encoder_decoders()) {
    const std::string row = "| `" + one.model_type + "` | " + one.title + " | " + one.rejected + " |";
    CAPTURE(row);
    CHECK(text.find(row) != std::string::npos);
  }
}
