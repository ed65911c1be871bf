// tests/models/encoders/encoder.test.cpp -- encoders whose families are settings: batches, poolings, heads, and what is
// rejected.
//
// The numbers of every family are compared by the conformance suite `architectures`.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/encoders.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>

using namespace dimwise;

namespace {

using model = models::encoder<>;
using token = model::token;
using text_list = std::vector<std::vector<token>>;
using models::encoder_task;
using models::pooling_kind;

struct case_folder : dimwise_test::model_folder {
  explicit case_folder(const std::string& name) : model_folder(name, "architectures_encoders.dwpack") {}
  [[nodiscard]] std::vector<token> text(int k) const { return ids<token>("text." + std::to_string(k) + ".input_ids"); }
  [[nodiscard]] model read(encoder_task task = encoder_task::features) const {
    return models::read_encoder(path(), task);
  }
  // The message of a configuration in which `from` is `to`.
  [[nodiscard]] std::string told(const std::string& from, const std::string& to,
                                 encoder_task task = encoder_task::features) const {
    change(from, to);
    return dimwise_test::message([&] { (void)read(task); });
  }
};

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    most = d <= most ? most : d;  // a NaN is kept
  }
  return most;
}

struct narrow : models::encoder_dims {
  struct d_model : feature_dim<24> {};
};

}  // namespace

TEST_CASE("a text has the same features alone and in a batch, in any order") {
  for (const char* name : {"modernbert", "mpnet", "albert", "roberta", "nomic_bert"}) {
    CAPTURE(name);
    const case_folder folder(name);
    const model m = folder.read();
    const std::vector<std::vector<token>> texts{folder.text(1), folder.text(2), folder.text(0)};
    const auto together = m.features(m.together(texts));
    const std::size_t row = together.values().size() / 3;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto alone = m.features(texts[i]);
      const auto in_batch = together.values().subspan(i * row, row);
      CHECK(largest_difference(alone.values(), in_batch.first(alone.size())) < 2e-5);
      const auto rest = in_batch.subspan(alone.size());
      CHECK(std::all_of(rest.begin(), rest.end(), [](float x) { return x == 0; }));  // padding is not computed
    }
  }
}

TEST_CASE("poolings as run-time values, without the tokens of a prompt") {
  const case_folder folder("distilbert");
  const model m = folder.read();
  const std::vector<std::vector<token>> texts{folder.text(2), folder.text(1)};
  const auto batch = m.together(texts);
  const auto x = m.features(batch);
  const std::size_t rows = extent_of<model::seq>(x);
  const auto feature = [&](std::size_t i, std::size_t t) {
    return static_cast<double>(x.values()[(i * rows + t) * 32 + 5]);
  };
  for (const std::size_t begin : {std::size_t{0}, std::size_t{2}}) {
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t n = texts[i].size();
      double sum = 0;
      double weighted = 0;
      double weights = 0;
      double most = -INFINITY;
      for (std::size_t t = begin; t < n; ++t) {
        sum += feature(i, t);
        weighted += static_cast<double>(t + 1) * feature(i, t);
        weights += static_cast<double>(t + 1);
        most = std::max(most, feature(i, t));
      }
      const auto count = static_cast<double>(n - begin);
      const std::pair<pooling_kind, double> expected[] = {{pooling_kind::first, feature(i, 0)},
                                                          {pooling_kind::max, most},
                                                          {pooling_kind::mean, sum / count},
                                                          {pooling_kind::mean_sqrt, sum / std::sqrt(count)},
                                                          {pooling_kind::weighted_mean, weighted / weights},
                                                          {pooling_kind::last, feature(i, n - 1)}};
      for (const auto& [how, value] : expected) {
        const auto found = m.pooled(x, batch.lengths, how, begin);
        CHECK(static_cast<double>(found.values()[i * 32 + 5]) == doctest::Approx(value).epsilon(1e-5));
      }
    }
  }
  const auto one = m.embedded(texts[1]);
  CHECK(static_cast<double>(static_cast<float>(sum<model::d_model>(one * one))) == doctest::Approx(1));
}

TEST_CASE("texts that do not fit are rejected by their number") {
  const case_folder folder("roberta");
  const model m = folder.read();
  CHECK(m.longest() == 40);  // 42 rows, of which the first two belong to no token
  const std::vector<token> longest(40, token{5});
  const std::vector<token> longer(41, token{5});
  CHECK(m.features(longest).size() == 40 * 32);
  CHECK_THROWS_WITH_AS(static_cast<void>(m.together(text_list{longest, longer})),
                       "together: text 1 has 41 tokens, the model takes 40", extent_error);
  CHECK_THROWS_AS(static_cast<void>(m.embedded(std::vector<token>())), extent_error);
  const std::vector<std::vector<id<model::segments>>> parts{{id<model::segments>(0)}};
  CHECK_THROWS_AS(static_cast<void>(m.together(text_list{longest}, parts)), extent_error);
  auto batch = m.together(text_list{longest, {token{5}}});
  batch.lengths.overwrite()[1] = 41;
  CHECK_THROWS_WITH_AS(static_cast<void>(m.features(batch)),
                       "features: text 1 has the length 41, its row has 40 tokens", extent_error);
}

TEST_CASE("lengths that do not fit the features are rejected before they are read") {
  const case_folder folder("roberta");
  const model m = folder.read();
  const auto batch = m.together(text_list{{token{5}, token{6}, token{7}}, {token{8}}});
  const auto x = m.features(batch);
  using lengths = tensor<int, model::batch>;
  for (const pooling_kind how : {pooling_kind::first, pooling_kind::max, pooling_kind::mean, pooling_kind::last}) {
    CHECK_THROWS_WITH_AS(static_cast<void>(m.pooled(x, lengths({3, 1, 1, 1, 1}), how)), "pooled: 5 lengths for 2 texts",
                         extent_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(m.pooled(x, lengths({3}), how)), "pooled: 1 lengths for 2 texts",
                         extent_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(m.pooled(x, lengths({3, 100}), how)),
                         "pooled: text 1 has the length 100, its row has 3 tokens", extent_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(m.pooled(x, lengths({-1, 1}), how)),
                         "pooled: text 0 has the length -1, its row has 3 tokens", extent_error);
  }
  const std::vector<std::vector<id<model::segments>>> parts{{id<model::segments>(0)}};
  CHECK_THROWS_WITH_AS(static_cast<void>(m.together(text_list{{token{5}}, {token{6}}}, parts)),
                       "together: parts of 1 texts for 2 texts", extent_error);
  CHECK_THROWS_WITH_AS(static_cast<void>(m.together(text_list{{token{5}, token{6}}}, parts)),
                       "together: text 0 has 2 tokens, and its parts have 1 entries", extent_error);
}

TEST_CASE("a head is read for its task") {
  const case_folder folder("distilbert-seqcls");
  CHECK(models::encoder_task_of(io::config_check(folder / "config.json")) == encoder_task::text_labels);
  folder.change("\"1\": \"POSITIVE\"", "\"1\": 2.5");
  CHECK(folder.read(encoder_task::text_labels).config.labels == std::vector<std::string>{"NEGATIVE", "2.5"});
  folder.change("\"1\"", "\"1\"");
  const model labels = folder.read(encoder_task::text_labels);
  CHECK(labels.config.labels == std::vector<std::string>{"NEGATIVE", "POSITIVE"});
  const auto batch = labels.together(text_list{folder.text(1)});
  const auto x = labels.features(batch);
  CHECK(labels.scores(x, batch.lengths).size() == 2);
  CHECK_THROWS_WITH_AS(static_cast<void>(labels.scores(x, tensor<int, model::batch>({1, 1}))),
                       "scores: 2 lengths for 1 texts", extent_error);
  CHECK_THROWS_WITH_AS(static_cast<void>(labels.token_scores(x)),
                       "token_scores: the encoder was read for encoder_task::text_labels; pass "
                       "encoder_task::token_labels to read_encoder",
                       extent_error);
  CHECK_THROWS_AS(static_cast<void>(labels.logits(x)), extent_error);
  const model tokens = folder.read(encoder_task::token_labels);
  CHECK(tokens.token_scores(x).size() == 2 * folder.text(1).size());
  CHECK_THROWS_AS(static_cast<void>(folder.read().scores(x, batch.lengths)), extent_error);
  const std::string missing = dimwise_test::message([&] { (void)folder.read(encoder_task::masked_tokens); });
  CHECK(has(missing, "\"vocab_transform.weight\" is missing"));
}

TEST_CASE("settings that would change the result are rejected by name") {
  const case_folder bert("bert-cross-encoder");
  CHECK(has(bert.told("\"bert\"", "\"bort\""),
            "model_type is \"bort\"; the encoders that are read are bert, deberta-v2, distilbert"));
  CHECK(has(bert.told("\"absolute\"", "\"relative_key\""), "position_embedding_type is \"relative_key\""));
  CHECK(has(bert.told("\"gelu\"", "\"mish\""), "hidden_act is \"mish\""));
  CHECK(has(bert.told("\"use_cache\": true", "\"is_decoder\": true"), "is_decoder is true"));
  CHECK(has(bert.told("\"use_cache\": true", "\"quantization_config\": {\"bits\": 4}"), "quantization_config"));
  CHECK(has(bert.told("\"num_attention_heads\": 4", "\"num_attention_heads\": 5"),
            "32 features are not divisible by 5 heads"));
  CHECK(has(bert.told("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1099511627776"), "num_hidden_layers is"));
  CHECK(has(bert.told("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1"), "encoder.layer.1."));
  CHECK(has(bert.told("\"pad_token_id\": 0", "\"pad_token_id\": 0.5"), "pad_token_id is not a whole number"));
  CHECK(has(bert.told("\"0\": \"LABEL_0\"", "\"1\": \"LABEL_0\"", encoder_task::text_labels), "no name of label 0"));
  CHECK(has(bert.told("\"0\": \"LABEL_0\"", "\"0\": true"), "id2label: 0 is true, a word was expected"));
  CHECK(has(bert.told("\"0\": \"LABEL_0\"", "\"0\": \"a\", \"1\": \"b\"", encoder_task::text_labels),
            "\"classifier.weight\" (F32 [1, 32]) does not fit"));
  CHECK(has(bert.told("\"use_cache\"", "\"tie_word_embeddings\": false, \"use_cache\"", encoder_task::masked_tokens),
            "tie_word_embeddings is false"));
  CHECK(bert.told("\"use_cache\"", "\"tie_word_embeddings\": false, \"use_cache\"").empty());
  const case_folder albert("albert");
  CHECK(has(albert.told("\"num_hidden_groups\": 1", "\"num_hidden_groups\": 9"), "num_hidden_groups"));
  CHECK(has(albert.told("\"inner_group_num\": 1", "\"inner_group_num\": 1099511627776"), "inner_group_num"));
  const case_folder modern("modernbert");
  CHECK(has(modern.told("\"layer_norm_eps\": 1e-05", "\"layer_types\": [\"full_attention\"]"),
            "layer_types has 1 entries for 4 layers"));
  CHECK(has(modern.told("\"layer_norm_eps\": 1e-05",
                        "\"layer_types\": [\"full_attention\", \"linear\", \"full_attention\", \"full_attention\"]"),
            "layer_types has \"linear\""));
  CHECK(has(modern.told("\"mlp_bias\": false", "\"mlp_bias\": true"), "\"model.layers.0.mlp.Wi.bias\" is missing"));
  CHECK(has(modern.told("\"norm_bias\": false", "\"norm_bias\": true"), "embeddings.norm.bias\" is missing"));
  const case_folder roberta("roberta");
  CHECK(
      has(roberta.told("\"pad_token_id\": 1", "\"pad_token_id\": 41"), "the positions begin at pad_token_id + 1 = 42"));
  CHECK(has(dimwise_test::message([&] { (void)models::read_encoder<narrow>(case_folder("distilbert").path()); }),
            "the hidden size is 32, but d_model has extent 24"));
}

namespace {

// The arrays of a file under the names that `renamed` gives; those of queries, keys and values of a layer as one.
io::archive other_names(const io::archive& from, const std::vector<std::pair<std::string, std::string>>& renamed) {
  io::archive made("other names");
  for (const io::stored_array& a : from.arrays()) {
    io::stored_array other = a;
    for (const auto& [part, by] : renamed) {
      if (const auto at = other.name.find(part); at != std::string::npos) { other.name.replace(at, part.size(), by); }
    }
    if (const auto at = other.name.find("self_attn.q_proj"); at != std::string::npos) {
      auto all = std::make_shared<std::vector<std::byte>>();
      for (const char* one : {"q", "k", "v"}) {
        std::string name = a.name;
        const auto bytes = from.at(name.replace(name.find("q_proj"), 1, one)).bytes;
        all->insert(all->end(), bytes.begin(), bytes.end());
      }
      other.name.replace(at, 16, "attn.Wqkv");
      other.extents[0] *= 3;
      other.bytes = *all;
      made.keep(all);
    } else if (a.name.find("k_proj") != std::string::npos || a.name.find("v_proj") != std::string::npos) {
      continue;
    }
    made.add(other);
  }
  return made;
}

}  // namespace

TEST_CASE("Nomic BERT is read by the original keys and names, and ModernBERT by either generation of settings") {
  const case_folder nomic("nomic_bert");
  const std::vector<std::pair<std::string, std::string>> names{
      {"layers.", "encoder.layers."},  {"self_attn.o_proj", "attn.out_proj"}, {"mlp.gate_proj", "mlp.fc12"},
      {"mlp.up_proj", "mlp.fc11"},     {"mlp.down_proj", "mlp.fc2"},          {"post_attention_layernorm", "norm1"},
      {"post_mlp_layernorm", "norm2"}, {"embeddings.LayerNorm", "emb_ln"}};
  const std::string settings =
      R"({"model_type": "nomic_bert", "n_embd": 32, "n_head": 4, "n_inner": 56, "n_layer": 3, "vocab_size": 75,
          "pad_vocab_size_multiple": 16, "rotary_emb_base": 1000, "activation_function": "swiglu"})";
  const io::archive arrays = io::read_checkpoint(nomic.path());
  const model first = models::read_encoder(io::config_check(io::parse_json(settings, "settings"), "settings"),
                                           other_names(arrays, names));
  const auto text = nomic.text(2);
  const auto expected = nomic.read().features(text);
  const auto found = first.features(text);
  CHECK(std::equal(found.values().begin(), found.values().end(), expected.values().begin(), expected.values().end()));
  // The class of the first training: the encoder is in `bert`, the output of masked tokens beside it, without biases.
  io::archive trained = other_names(arrays, names);
  io::archive whole("NomicBertForPreTraining");
  for (io::stored_array a : trained.arrays()) {
    a.name = "bert." + a.name;
    whole.add(a);
  }
  const auto copy = [&](const char* from, const char* to) {
    io::stored_array a = trained.at(from);
    a.name = to;
    whole.add(a);
  };
  copy("encoder.layers.0.attn.out_proj.weight", "cls.predictions.transform.dense.weight");
  copy("encoder.layers.0.norm1.weight", "cls.predictions.transform.layer_norm.weight");
  copy("encoder.layers.0.norm1.bias", "cls.predictions.transform.layer_norm.bias");
  const io::config_check config(io::parse_json(settings, "settings"), "settings");
  for (const auto task : {encoder_task::features, encoder_task::masked_tokens}) {
    const model of_class = models::read_encoder(config, whole, task);
    const auto features = of_class.features(text);
    CHECK(std::equal(features.values().begin(), features.values().end(), expected.values().begin()));
    if (task == encoder_task::masked_tokens) {
      CHECK(of_class.logits(of_class.features(of_class.together(text_list{text}))).size() == 80 * text.size());
    }
  }

  const case_folder modern("modernbert");
  const auto by_keys = modern.read().features(text);
  modern.change("\"global_rope_theta\": 160000.0,",
                "\"layer_types\": [\"full_attention\", \"sliding_attention\", \"sliding_attention\", "
                "\"full_attention\"], \"rope_parameters\": {\"full_attention\": {\"rope_type\": \"default\", "
                "\"rope_theta\": 160000.0}, \"sliding_attention\": {\"rope_type\": \"default\", \"rope_theta\": "
                "10000.0}},");
  const auto by_types = modern.read().features(text);
  CHECK(std::equal(by_types.values().begin(), by_types.values().end(), by_keys.values().begin()));
}

TEST_CASE("ModernBERT without a base of its own for windowed layers has that of the others, and CamemBERT is RoBERTa") {
  const auto base_of = [](const std::string& base) {
    const case_folder modern("modernbert");
    modern.change("\"local_rope_theta\": 10000.0", "\"local_rope_theta\": " + base);
    const model m = modern.read();
    return m.config.rotary.at(1).angles;
  };
  CHECK(base_of("null") == base_of("160000.0"));
  CHECK(base_of("null") != base_of("10000.0"));

  const case_folder roberta("roberta");
  const auto text = roberta.text(1);
  const auto expected = roberta.read().features(text);
  roberta.change("\"model_type\": \"roberta\"", "\"model_type\": \"camembert\"");
  const auto found = roberta.read().features(text);
  CHECK(std::equal(found.values().begin(), found.values().end(), expected.values().begin(), expected.values().end()));
}

TEST_CASE("the table of the documentation lists every encoder") {
  std::ifstream page(dimwise_test::data_file("../../docs/reference/models.md"));
  REQUIRE(page);
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  const std::string begin = "| `model_type` | model | positions | other conventions |";
  REQUIRE(text.find(begin) != std::string::npos);
  const std::string table = text.substr(text.find(begin), text.find("\n\n", text.find(begin)) - text.find(begin));
  for (const models::encoder_family* family : models::encoder_families) {
    for (const std::string& type : family->model_types) {
      CAPTURE(type);
      CHECK((has(table, "\n| `" + type + "`") || has(table, ", `" + type + "`")));
    }
  }
}
