// tests/models/encoders/bert.test.cpp -- a folder of BERT is read, compared with the types, and gives the vectors of
// float64.
// SPDX-License-Identifier: BSL-1.0
#include "models/support.hpp"
#include <dimwise/models/bert.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace dimwise;

namespace {

// What the compiler knows of the tiny model.
struct tiny : models::bert_dims {
  struct d_model : feature_dim<24> {};
  struct heads : heads_dim<4> {};
  struct d_k : divided<d_model, heads> {};
  struct d_v : divided<d_model, heads> {};
  struct hidden : feature_dim<40> {};
};
struct other : tiny {
  struct vocab : choice_dim<30522> {};
  struct seq : position_dim<512> {};
  struct key : prime<seq> {};
};
using model_type = models::bert<tiny>;
using token = model_type::token;

dimwise_test::model_folder tiny_folder() { return dimwise_test::model_folder("tiny-bert", "bert.dwpack"); }
std::string of_text(std::size_t k) { return "text." + std::to_string(k) + "."; }

// The largest difference; float32 through two layers of norms errs by less than 2e-5 where the numbers are below 6.
constexpr double bound = 2e-5;
template <class Values>
double difference(const Values& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  double most = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = std::abs(static_cast<double>(found[i]) - expected[i]);
    most = d <= most ? most : d;  // a NaN is kept
  }
  return most;
}
template <class T, class... D>
double difference(const tensor<T, D...>& x, const std::vector<double>& expected) {
  return difference(x.values(), expected);
}

tensor<token, tiny::seq> text_of(const std::vector<token>& ids) {
  return tensor<token, tiny::seq>(ids, tiny::seq{ids.size()});
}

}  // namespace

TEST_CASE("the features and the three poolings of a text are those of float64") {
  const auto folder = tiny_folder();
  const auto by_mean = models::read_bert<tiny>(folder.path());
  const auto by_first = models::read_bert<models::bert_dims, models::first_pooling>(folder.path());
  const auto mapped = models::read_bert<tiny, models::mapped_pooling>(folder.path());
  CHECK(nn::parameter_count(mapped) == nn::parameter_count(by_mean) + 24 * 25);
  CHECK(by_mean.longest() == 32);
  for (std::size_t k = 0; k < 4; ++k) {
    const auto ids = folder.ids<token>(of_text(k) + "input_ids");
    const auto x = by_mean.features(text_of(ids));
    CHECK(difference(x, folder.numbers(of_text(k) + "features")) < bound);
    CHECK(difference(by_mean.pooled(x), folder.numbers(of_text(k) + "mean")) < bound);
    CHECK(difference(mapped.pooled(mapped.features(text_of(ids))), folder.numbers(of_text(k) + "mapped")) < bound);
    using plain_word = decltype(by_first)::token;
    const auto same = folder.ids<plain_word>(of_text(k) + "input_ids");
    const tensor<plain_word, models::bert_dims::seq> text(same, models::bert_dims::seq{same.size()});
    CHECK(difference(by_first.pooled(by_first.features(text)), folder.numbers(of_text(k) + "first")) < bound);
  }
}

namespace {

// The pooling of a text alone and in a batch, against `expected(x, feature, begin, n)`, without and with tokens left
// out.
template <class Pooling, class Expected>
void check_pooling(const Expected& expected) {
  const auto folder = tiny_folder();
  const auto model = models::read_bert<tiny, Pooling>(folder.path());
  std::vector<std::vector<token>> texts;
  for (std::size_t k = 0; k < 4; ++k) { texts.push_back(folder.ids<token>(of_text(k) + "input_ids")); }
  for (const std::size_t left_out : {std::size_t{0}, std::size_t{2}}) {
    const auto together = model.embedded(texts, left_out);
    for (std::size_t k = 0; k < 4; ++k) {
      const auto x = model.features(text_of(texts[k]));
      std::vector<double> by_hand;
      double squares = 0;
      for (std::size_t j = 0; j < 24; ++j) {
        const auto feature = [&](std::size_t t) { return static_cast<double>(x.data()[t * 24 + j]); };
        by_hand.push_back(expected(feature, left_out, texts[k].size()));
        squares += by_hand.back() * by_hand.back();
      }
      CHECK(difference(model.pooled(x, left_out), by_hand) < bound);
      for (double& one : by_hand) { one /= std::sqrt(squares); }
      CHECK(difference(model.embedded(texts[k], left_out), by_hand) < bound);
      const tensor<float, tiny::d_model> one_of_four = at<tiny::batch>(together, k);
      CHECK(difference(one_of_four, by_hand) < bound);
    }
  }
}

}  // namespace

TEST_CASE(
    "every pooling of sentence-transformers, of a text alone and in a batch, also without the tokens of a prompt") {
  check_pooling<models::mean_pooling>([](const auto& x, std::size_t begin, std::size_t n) {
    double sum = 0;
    for (std::size_t t = begin; t < n; ++t) { sum += x(t); }
    return sum / static_cast<double>(n - begin);
  });
  check_pooling<models::mean_sqrt_pooling>([](const auto& x, std::size_t begin, std::size_t n) {
    double sum = 0;
    for (std::size_t t = begin; t < n; ++t) { sum += x(t); }
    return sum / std::sqrt(static_cast<double>(n - begin));
  });
  check_pooling<models::weighted_mean_pooling>([](const auto& x, std::size_t begin, std::size_t n) {
    double sum = 0;
    double weights = 0;
    for (std::size_t t = begin; t < n; ++t) {
      sum += static_cast<double>(t + 1) * x(t);
      weights += static_cast<double>(t + 1);
    }
    return sum / weights;
  });
  check_pooling<models::max_pooling>([](const auto& x, std::size_t begin, std::size_t n) {
    double most = -INFINITY;
    for (std::size_t t = begin; t < n; ++t) { most = std::max(most, x(t)); }
    return most;
  });
  check_pooling<models::last_pooling>([](const auto& x, std::size_t, std::size_t n) { return x(n - 1); });
  check_pooling<models::first_pooling>([](const auto& x, std::size_t, std::size_t) { return x(0); });
}

TEST_CASE("a text without words has no vector") {
  const auto folder = tiny_folder();
  const auto model = models::read_bert<tiny>(folder.path());
  const std::vector<token> none;
  const std::vector<std::vector<token>> one_of_two{{token{1}}, {}};
  CHECK_THROWS_AS(static_cast<void>(model.embedded(none)), extent_error);
  CHECK_THROWS_AS(static_cast<void>(model.embedded(one_of_two)), extent_error);
}

TEST_CASE("a vector without a direction is refused, with its text") {
  const auto folder = tiny_folder();
  auto model = models::read_bert<tiny>(folder.path());
  const std::vector<std::vector<token>> texts{{token{1}, token{2}}, {token{1}, token{3}}};
  const std::vector<float> words(model.token_embedding.table.values().begin(),
                                 model.token_embedding.table.values().end());
  model.token_embedding.table.data()[3 * 24] = std::numeric_limits<float>::quiet_NaN();
  CHECK(model.embedded(texts[0]).size() == 24);
  const std::string no_direction = " has no direction: its length is 0, infinite or NaN";
  CHECK(dimwise_test::message([&] { (void)model.embedded(texts[1]); }) ==
        "embedded: the vector of text 0" + no_direction);
  CHECK(dimwise_test::message([&] { (void)model.embedded(texts); }) == "embedded: the vector of text 1" + no_direction);
  std::copy(words.begin(), words.end(), model.token_embedding.table.data());
  auto& last = model.layers.layers.back().norm2;
  for (const float scale : {0.0F, 1e30F}) {  // zeros, and squares that are infinite
    std::fill_n(last.gamma.data(), 24, scale);
    std::fill_n(last.beta.data(), 24, 0.0F);
    CHECK(dimwise_test::message([&] { (void)model.embedded(texts[0]); }) ==
          "embedded: the vector of text 0" + no_direction);
  }
}

TEST_CASE("of two texts each word knows to which it belongs") {
  const auto folder = tiny_folder();
  const auto model = models::read_bert<tiny>(folder.path());
  const auto text = text_of(folder.ids<token>("pair.input_ids"));
  const auto segments = folder.ids<id<tiny::segments>>("pair.segments");
  const tensor<id<tiny::segments>, tiny::seq> parts(segments, tiny::seq{segments.size()});
  CHECK(difference(model.features(text, parts), folder.numbers("pair.features")) < bound);
  CHECK(difference(model.features(text), folder.numbers("pair.features")) > 0.01);
}

TEST_CASE("texts of different lengths go through together: padding changes nothing, whatever its ids are") {
  const auto folder = tiny_folder();
  const auto model = models::read_bert<tiny>(folder.path());
  std::vector<std::vector<token>> texts;
  for (std::size_t k = 0; k < 4; ++k) { texts.push_back(folder.ids<token>(of_text(k) + "input_ids")); }
  const auto vectors = model.embedded(texts);
  std::vector<double> cosines;
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      const float cosine = sum<tiny::d_model>(at<tiny::batch>(vectors, a) * at<tiny::batch>(vectors, b));
      cosines.push_back(static_cast<double>(cosine));
    }
  }
  CHECK(difference(cosines, folder.numbers("cosines")) < 1e-6);
  for (std::size_t k = 0; k < 4; ++k) {
    const auto alone = model.embedded(texts[k]);
    const tensor<float, tiny::d_model> together = at<tiny::batch>(vectors, k);
    const auto values = alone.values();
    CHECK(difference(together.values(), {values.begin(), values.end()}) < 1e-6);
  }
  // The same texts behind which other words are.
  tensor<token, tiny::batch, tiny::seq> padded(tiny::batch{2}, tiny::seq{9});
  std::fill_n(padded.overwrite(), 18, token{7});
  std::copy(texts[0].begin(), texts[0].end(), padded.overwrite());
  std::copy(texts[2].begin(), texts[2].end(), padded.overwrite() + 9);
  const tensor<int, tiny::batch> lengths({9, 3}, tiny::batch{2});
  const auto means = model.pooled(model.features(padded, lengths), lengths);
  const tensor<float, tiny::d_model> short_one = at<tiny::batch>(means, 1);
  CHECK(difference(short_one.values(), folder.numbers("text.2.mean")) < bound);
  const auto x = model.features(padded, lengths);
  const auto by_first = models::read_bert<tiny, models::first_pooling>(folder.path());
  const tensor<int, tiny::batch> more({9, 3, 1}, tiny::batch{3});
  const tensor<int, tiny::batch> longer({9, 30}, tiny::batch{2});
  CHECK_THROWS_WITH_AS(static_cast<void>(model.pooled(x, more)), "pooled: 3 lengths for 2 texts", extent_error);
  CHECK_THROWS_WITH_AS(static_cast<void>(by_first.pooled(x, more)), "pooled: 3 lengths for 2 texts", extent_error);
  CHECK_THROWS_WITH_AS(static_cast<void>(model.pooled(x, longer)),
                       "pooled: text 1 has the length 30, its row has 9 tokens", extent_error);
}

TEST_CASE("names with a prefix, of old norms, with heads on top; settings that are not those of the types") {
  const auto folder = tiny_folder();
  const io::archive file = io::read_safetensors(folder / "model.safetensors", io::file_access::read);
  std::vector<io::stored_array> arrays;
  for (const io::stored_array& a : file.arrays()) {
    io::stored_array other_name = a;
    other_name.name = "bert." + a.name;
    for (const auto& [now, once] :
         {std::pair(".LayerNorm.weight", ".LayerNorm.gamma"), std::pair(".LayerNorm.bias", ".LayerNorm.beta")}) {
      if (const auto found = other_name.name.find(now); found != std::string::npos) {
        other_name.name.replace(found, std::string(now).size(), once);
      }
    }
    arrays.push_back(other_name);
  }
  io::stored_array head = arrays.front();
  head.name = "cls.predictions.bias";
  arrays.push_back(head);
  io::write_safetensors(folder / "model.safetensors", arrays);
  const auto ids = folder.ids<token>("text.0.input_ids");
  const auto model = models::read_bert<tiny>(folder.path());
  CHECK(difference(model.pooled(model.features(text_of(ids))), folder.numbers("text.0.mean")) < bound);

  CHECK(dimwise_test::message([&] { (void)models::read_bert<other>(folder.path()); }) ==
        (folder / "config.json").string() +
            ": the settings do not fit the model:\n"
            "  vocab_size is 24, but vocab has extent 30522\n"
            "  max_position_embeddings is 32, but seq has extent 512");
  folder.change("\"gelu\"", "\"gelu_new\"");
  CHECK(dimwise_test::message([&] {
    (void)models::read_bert<tiny>(folder.path());
  }).find("hidden_act is \"gelu_new\", the model's type has gelu") != std::string::npos);
  // Positions that begin at 2, as RoBERTa's do: another type of model.
  folder.change("\"model_type\": \"bert\"", "\"model_type\": \"roberta\"");
  CHECK(dimwise_test::message([&] {
    (void)models::read_bert<tiny>(folder.path());
  }).find("model_type is \"roberta\", the model's type has bert") != std::string::npos);
}
