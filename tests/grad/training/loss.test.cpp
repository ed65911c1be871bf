// SPDX-License-Identifier: BSL-1.0
// Losses against reference loops, and their gradients against differences in float64.
#include "grad/nodes.hpp"
#include "support/numbers.hpp"

#include <cmath>
#include <limits>

using namespace grad_tests;

namespace {

#define CHECK_LOSS(model, ...)                                                            \
  do {                                                                                    \
    const auto check = check_gradient(model, [&](const auto& m) { return __VA_ARGS__; }); \
    INFO(check.where, ": ", check.gradient, " against ", check.difference);               \
    CHECK(check.elements > 0);                                                            \
    CHECK(check.error < 1e-8);                                                            \
  } while (false)

struct row_of_words {
  tensor<double, batch, seq, vocab> logits = some<batch, seq, vocab>(1, batch{2}, seq{3}, vocab{5});
  tensor<id<vocab>, batch, seq> ids{std::vector{1, 4, 1, 0, 2, 1}, batch{2}, seq{3}};
  tensor<double, vocab> weights = exp(some<vocab>(2, vocab{5}));
  tensor<int, batch> lengths{std::vector{2, 3}, batch{2}};
};

double minus_log_probability(const double* x, std::size_t n, std::size_t at) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) { sum += std::exp(x[i]); }
  return std::log(sum) - x[at];
}

}  // namespace

TEST_CASE("cross_entropy: the mean over all but the alternatives, which the type names") {
  const row_of_words w;
  const std::size_t ids[] = {1, 4, 1, 0, 2, 1};
  double sum = 0;
  for (std::size_t i = 0; i < 6; ++i) { sum += minus_log_probability(w.logits.data() + 5 * i, 5, ids[i]); }
  const average loss = cross_entropy<vocab>(w.logits, w.ids);
  static_assert(std::same_as<decltype(loss), const average<double, batch, seq>>);
  CHECK(loss.value() == doctest::Approx(sum / 6).epsilon(1e-14));
  CHECK(loss.count == 6);
  CHECK(cross_entropy<vocab, seq, batch>(w.logits, w.ids).value() == loss.value());
  const auto seen = cross_entropy<vocab>(w.logits, w.ids, padding<seq>(w.lengths));
  double sum_seen = 0;
  for (const std::size_t i : {0, 1, 3, 4, 5}) { sum_seen += minus_log_probability(w.logits.data() + 5 * i, 5, ids[i]); }
  CHECK(seen.count == 5);
  CHECK(seen.value() == doctest::Approx(sum_seen / 5).epsilon(1e-14));
}

TEST_CASE("cross_entropy: gradients of every option, in any order of the dimensions") {
  const row_of_words w;
  const tensor<double, vocab, batch, seq> middle = w.logits;
  const auto hidden_words = padding<seq>(w.lengths);
  const auto distribution = tensor(softmax<vocab>(some<batch, seq, vocab>(7, batch{2}, seq{3}, vocab{5})));
  CHECK_LOSS(w.logits, cross_entropy<vocab>(m, w.ids));
  CHECK_LOSS(middle, cross_entropy<vocab>(m, w.ids, hidden_words));
  CHECK_LOSS(w.logits, cross_entropy<vocab>(m, w.ids, label_smoothing{0.1}));
  CHECK_LOSS(w.logits, cross_entropy<vocab>(m, w.ids, class_weights(w.weights)));
  CHECK_LOSS(w.logits, cross_entropy<vocab>(m, w.ids, label_smoothing{0.2}, class_weights(w.weights), hidden_words));
  CHECK_LOSS(w.logits, cross_entropy<vocab>(m, distribution));
  CHECK_LOSS(middle, cross_entropy<vocab>(m, plain(distribution), label_smoothing{0.2}, hidden_words));
  CHECK_LOSS(w.logits, kl_divergence<vocab>(m, distribution));
  CHECK_LOSS(middle, kl_divergence<vocab>(m, w.logits * 0.3, temperature{2}));
  CHECK_LOSS(middle, kl_divergence<vocab>(m, w.logits * 0.3, temperature{2}, hidden_words));
  CHECK_LOSS(std::tuple(middle, tensor(w.logits * 0.3)),
             kl_divergence<vocab>(std::get<0>(m), std::get<1>(m), temperature{2}));
}

TEST_CASE("cross_entropy: what does not count is not read, and its gradient is 0") {
  row_of_words w;
  w.logits.set(std::numeric_limits<double>::quiet_NaN(), id<batch>(0), id<seq>(2), id<vocab>(3));
  w.ids.set(id<vocab>(99), id<batch>(0), id<seq>(2));
  const auto [value, g] = value_and_gradient(w.logits, [&](const auto& m) {
    return cross_entropy<vocab>(m, w.ids, padding<seq>(w.lengths), class_weights(w.weights));
  });
  CHECK(std::isfinite(value));
  for (std::size_t i = 10; i < 15; ++i) { CHECK(g.data()[i] == 0); }
  CHECK_THROWS_AS(static_cast<void>(cross_entropy<vocab>(w.logits, w.ids)), index_error);
}

TEST_CASE("a multiple of an average, and two losses as one number") {
  const auto logits = some<batch, vocab>(1, batch{2}, vocab{3});
  const tensor<id<vocab>, batch> targets(std::vector{1, 2}, batch{2});
  const auto loss = [&](const auto& m) { return cross_entropy<vocab>(m, targets); };
  const auto one = value_and_gradient(logits, loss);
  const auto half = value_and_gradient(logits, [&](const auto& m) { return 0.5F * loss(m); });
  const auto also = value_and_gradient(logits, [&](const auto& m) { return loss(m) * 0.5 + loss(m) * 0; });
  const auto both =
      value_and_gradient(logits, [&](const auto& m) { return loss(m).mean() + 0.25 * mean<batch, vocab>(square(m)); });
  CHECK(half.value == doctest::Approx(one.value / 2));
  CHECK((loss(logits) / 4).value() == doctest::Approx(one.value / 4));
  CHECK((-loss(logits)).value() == -one.value);
  CHECK((-loss(logits)).count == 2);
  CHECK(also.value == doctest::Approx(one.value / 4));  // over twice as many
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double g = one.gradient.data()[i];
    CHECK(half.gradient.data()[i] == doctest::Approx(g / 2));
    CHECK(both.gradient.data()[i] == doctest::Approx(g + 0.5 / 6 * logits.data()[i]));
  }
}

TEST_CASE("weights of a loss have the extents of what they weigh") {
  const tensor<double, batch, vocab> logits(batch{2}, vocab{3});
  const tensor<id<vocab>, batch> targets(std::vector{1, 2}, batch{2});
  for (const std::size_t n : {2, 4}) {
    CAPTURE(n);
    const tensor<double, vocab> weights(std::vector(n, 1.0), vocab{static_cast<std::ptrdiff_t>(n)});
    const auto told = [&](const auto& loss) { return dimwise_test::thrown<extent_error>(loss); };
    const std::string other = std::to_string(n);
    const std::string said = told([&] { (void)cross_entropy<vocab>(logits, targets, class_weights(weights)); });
    CAPTURE(said);
    CHECK(said.starts_with("class_weights: "));
    CHECK(said.find("vocab") != std::string::npos);
    CHECK(said.find("3") != std::string::npos);
    CHECK(said.find(other) != std::string::npos);
    CHECK(told([&] { (void)cross_entropy<vocab>(logits, targets, class_weights(weights), label_smoothing{0.1}); }) ==
          said);
    CHECK(told([&] { (void)cross_entropy<vocab>(logits, softmax<vocab>(logits), class_weights(weights)); }) == said);
    CHECK(told([&] {
      (void)binary_cross_entropy(logits, logits, positive_weight(weights));
    }).starts_with("positive_weight: "));
  }
}

TEST_CASE("a temperature whose square no float holds is refused") {
  const tensor<float, vocab> logits(std::vector{1.0F, 2.0F, 3.0F}, vocab{3});
  for (const double t :
       {0.0, -1.0, 1e-60, 1e60, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(t);
    CHECK_THROWS_AS(static_cast<void>(kl_divergence<vocab>(logits, logits, temperature{t})), number_error);
  }
}

TEST_CASE("weights of a loss are 0 or more") {
  const tensor<double, vocab> logits(std::vector(3, 1.0), vocab{3});
  const tensor<id<vocab>> target(id<vocab>{1});
  const tensor<double, vocab> answers(std::vector{1.0, 0.0, 1.0}, vocab{3});
  const auto weights = [](double w) { return tensor<double, vocab>(std::vector{1.0, w, 1.0}, vocab{3}); };
  for (const double w : {-0.1, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(static_cast<void>(cross_entropy<vocab>(logits, target, class_weights(weights(w)))), number_error);
    CHECK_THROWS_AS(static_cast<void>(binary_cross_entropy(logits, answers, positive_weight(w))), number_error);
    CHECK_THROWS_AS(static_cast<void>(binary_cross_entropy(logits, answers, positive_weight(weights(w)))),
                    number_error);
  }
  CHECK(cross_entropy<vocab>(logits, target, class_weights(weights(0))).value() == 0);
  CHECK(binary_cross_entropy(logits, answers, positive_weight(0.0)).value() > 0);
}

TEST_CASE("a label is smoothed by a share from 0 to 1") {
  const tensor<double, vocab> logits(std::vector(11, 1.0), vocab{11});
  const tensor<id<vocab>> target(id<vocab>{1});
  for (const double amount : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(static_cast<void>(cross_entropy<vocab>(logits, target, label_smoothing{amount})), number_error);
  }
  CHECK(cross_entropy<vocab>(logits, target, label_smoothing{1}).value() == doctest::Approx(std::log(11.0)));
}

TEST_CASE("class weights divide by the weights of the targets, and weigh a smoothed target by its alternatives") {
  const row_of_words w;
  const std::size_t ids[] = {1, 4, 1, 0, 2, 1};
  const double s = 0.2;
  double sum = 0;
  double count = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    count += w.weights.data()[ids[i]];
    for (std::size_t v = 0; v < 5; ++v) {
      const double q = (v == ids[i] ? 1 - s : 0) + s / 5;
      sum += q * w.weights.data()[v] * minus_log_probability(w.logits.data() + 5 * i, 5, v);
    }
  }
  const auto loss = cross_entropy<vocab>(w.logits, w.ids, class_weights(w.weights), label_smoothing{s});
  CHECK(loss.count == doctest::Approx(count).epsilon(1e-14));
  CHECK(loss.value() == doctest::Approx(sum / count).epsilon(1e-14));
}

TEST_CASE("next_word_loss shifts the targets itself") {
  const row_of_words w;
  const std::size_t ids[] = {1, 4, 1, 0, 2, 1};
  double sum = 0;
  for (const std::size_t i : {0, 1, 3, 4}) { sum += minus_log_probability(w.logits.data() + 5 * i, 5, ids[i + 1]); }
  const auto loss = next_word_loss<seq>(w.logits, w.ids);
  CHECK(loss.count == 4);
  CHECK(loss.value() == doctest::Approx(sum / 4).epsilon(1e-14));
  const auto seen = next_word_loss<seq>(w.logits, w.ids, padding<seq>(w.lengths));
  CHECK(seen.count == 3);  // the second word of the first row, the second and the third of the second row
  CHECK_LOSS(w.logits, next_word_loss<seq>(m, w.ids, padding<seq>(w.lengths)));
  CHECK_LOSS(w.logits, next_word_loss<seq>(m, w.ids, allow(tensor<bool, batch>({true, false}, batch{2}))));
  // Shifted once already, or twice by mistake.
  const tensor<double, batch, seq, vocab> from_zero(std::vector<double>(30), batch{2}, starting_at(seq{3}, 0),
                                                    vocab{5});
  const tensor<id<vocab>, batch, seq> shifted(std::vector{1, 4, 1, 0, 2, 1}, batch{2}, starting_at(seq{3}, 1));
  CHECK_THROWS_AS(static_cast<void>(next_word_loss<seq>(from_zero, shifted)), origin_error);
}

TEST_CASE("packed documents: the mean goes over all of them, and no document's last word is followed by the next's") {
  struct packed : packed_dim<> {};
  const packed extent{{2, 3}};
  const auto logits = some<packed, vocab>(1, extent, vocab{5});
  const tensor<id<vocab>, packed> ids(std::vector{1, 4, 1, 0, 2}, extent);
  CHECK(cross_entropy<vocab>(logits, ids, all_documents{}).count == 5);
  const auto loss = next_word_loss<packed>(logits, ids, all_documents{});
  CHECK(loss.count == 3);
  double sum = 0;
  sum += minus_log_probability(logits.data(), 5, 4);
  sum += minus_log_probability(logits.data() + 10, 5, 0);
  sum += minus_log_probability(logits.data() + 15, 5, 2);
  CHECK(loss.value() == doctest::Approx(sum / 3).epsilon(1e-14));
}

TEST_CASE("squared errors and binary cross-entropy, with and without masks and weights") {
  const auto x = some<batch, seq, d_model>(1, batch{2}, seq{3});
  const auto y = some<d_model, batch, seq>(2, batch{2}, seq{3});
  const tensor<double, batch, seq, d_model> targets = sigmoid(y);
  const auto weights = tensor(exp(some<d_model>(3)));
  const tensor<int, batch> lengths({1, 3}, batch{2});
  const auto error = mean_squared_error(x, y);
  CHECK(error.count == 48);
  CHECK(error.value() == doctest::Approx(double(mean<batch, seq, d_model>(square(x - y)))));
  CHECK(mean_squared_error(x, y, padding<seq>(lengths)).count == 32);
  CHECK_LOSS(std::tuple(x, y), mean_squared_error(std::get<0>(m), std::get<1>(m)));
  CHECK_LOSS(std::tuple(x, y), mean_squared_error(std::get<0>(m), std::get<1>(m), padding<seq>(lengths)));
  CHECK_LOSS(std::tuple(x, targets), binary_cross_entropy(std::get<0>(m), std::get<1>(m)));
  CHECK(binary_cross_entropy(x, targets, positive_weight(3)).value() ==
        binary_cross_entropy(x, targets, positive_weight(tensor<double>(3.0))).value());
  const tensor<float, seq> decisions({0.5F, -1.0F}, seq{2}), wanted({1.0F, 0.0F}, seq{2});
  CHECK(binary_cross_entropy(decisions, wanted, positive_weight(2.5)).value() ==
        doctest::Approx((2.5 * std::log1p(std::exp(-0.5)) + std::log1p(std::exp(-1.0))) / 2));
  CHECK_LOSS(std::tuple(x, targets),
             binary_cross_entropy(std::get<0>(m), std::get<1>(m), padding<seq>(lengths), positive_weight(weights)));
  const tensor<double, batch> sure({1000.0, -1000.0}, batch{2});
  const tensor<double, batch> right({1.0, 0.0}, batch{2});
  CHECK(binary_cross_entropy(sure, right).value() == 0);
  CHECK(binary_cross_entropy(sure, tensor(1.0 - right)).value() == 1000);
}

TEST_CASE("averages add, so that micro-batches weigh by what they count") {
  const row_of_words w;
  const auto whole = cross_entropy<vocab>(w.logits, w.ids, padding<seq>(w.lengths));
  const auto of = [&](std::size_t i) {
    const tensor one = slice<batch>(w.logits, i, 1);
    const tensor ids = slice<batch>(w.ids, i, 1);
    const tensor lengths = slice<batch>(w.lengths, i, 1);
    return cross_entropy<vocab>(one, ids, padding<seq>(lengths));
  };
  CHECK((of(0) + of(1)).value() == doctest::Approx(whole.value()).epsilon(1e-14));
  CHECK((of(0) + of(1)).count == 5);
  average<double, batch, seq> nothing;
  CHECK(nothing.value() == 0);
  nothing += of(0);
  CHECK(nothing.value() == of(0).value());
}

TEST_CASE("losses without alternatives are 0, whatever the targets are") {
  const tensor<double, batch, vocab> nothing(batch{2}, vocab{0});
  CHECK(cross_entropy<vocab>(nothing, softmax<vocab>(nothing)).value() == 0);
  CHECK(value_and_gradient(nothing, [&](const auto& m) {
    return cross_entropy<vocab>(m, softmax<vocab>(nothing));
  }).gradient.size() == 0);
}
