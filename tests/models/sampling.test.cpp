// tests/models/sampling.test.cpp -- each step of the choice of a word, against numbers worked out by hand.
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include <dimwise/models/language_model.hpp>
#include <dimwise/models/sampling.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace dimwise;

namespace {

struct vocab : choice_dim<> {};
using token = id<vocab>;
using chosen = models::candidates<vocab>;

// Probabilities 0.1, 0.4, 0.2, 0.3 of the words 0 to 3.
tensor<float, vocab> logits() {
  return tensor<float, vocab>({std::log(0.1F), std::log(0.4F), std::log(0.2F), std::log(0.3F)}, vocab{4});
}
std::vector<std::size_t> words(chosen c) {
  std::vector<std::size_t> all;
  for (const auto& one : c.left()) { all.push_back(static_cast<std::size_t>(one.which.value)); }
  return all;
}
using ids = std::vector<std::size_t>;

TEST_CASE("the place of the largest is that of the first one, and never that of NaN") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t size : {1, 15, 16, 17, 40}) {
    for (std::size_t i = 0; i < size; ++i) {
      std::vector<float> x(size, -3);
      x[i] = -2;
      CHECK(models::argmax(x) == i);
      x.back() = -2;
      CHECK(models::argmax(x) == i);
      x[0] = not_a_number;
      CHECK(models::argmax(x) == (i > 0 ? i : size - 1));
    }
    CHECK(models::argmax(std::vector<float>(size, -infinity)) == 0);
    CHECK(models::argmax(std::vector<float>(size, not_a_number)) == 0);
  }
}

}  // namespace

TEST_CASE("candidates are ordered by their logits, equal ones by their ids") {
  CHECK(words(chosen(logits())) == ids{1, 3, 2, 0});
  CHECK(words(chosen(tensor<float, vocab>({1.F, 2.F, 2.F, 1.F}, vocab{4}))) == ids{1, 2, 0, 3});
  const auto p = chosen(logits()).probabilities();
  CHECK(p[0] == doctest::Approx(0.4));
  CHECK(p[3] == doctest::Approx(0.1));
}

TEST_CASE("top_k, top_p and min_p take away candidates") {
  CHECK(words(chosen(logits()).top_k(2)) == ids{1, 3});
  CHECK(words(chosen(logits()).top_k(0)) == ids{1, 3, 2, 0});
  CHECK(words(chosen(logits()).top_k(9)) == ids{1, 3, 2, 0});
  CHECK(words(chosen(logits()).top_p(0.39)) == ids{1});
  CHECK(words(chosen(logits()).top_p(0.41)) == ids{1, 3});
  CHECK(words(chosen(logits()).top_p(0.71)) == ids{1, 3, 2});
  CHECK(words(chosen(logits()).top_p(0)) == ids{1});
  CHECK(words(chosen(logits()).top_p(1)) == ids{1, 3, 2, 0});
  CHECK(words(chosen(logits()).min_p(0.49)) == ids{1, 3, 2});  // 0.2 is half of 0.4
  CHECK(words(chosen(logits()).min_p(0.51)) == ids{1, 3});
  CHECK(words(chosen(logits()).min_p(0)) == ids{1, 3, 2, 0});
  CHECK(words(chosen(logits()).min_p(2)) == ids{1});
  // Probabilities are those of the candidates that are left: 4/7 of two.
  CHECK(words(chosen(logits()).top_k(2).top_p(0.56)) == ids{1});
}

TEST_CASE("what has been ordered stays so when candidates are taken away") {
  tensor<float, vocab> given(vocab{1000});
  for (std::size_t i = 0; i < given.size(); ++i) { given.overwrite()[i] = static_cast<float>((i * 389) % 1000); }
  auto c = chosen(given);
  (void)c.left();
  c.top_k(500);
  const auto left = c.left();
  REQUIRE(left.size() == 500);
  for (std::size_t i = 0; i < left.size(); ++i) { CHECK(left[i].logit == static_cast<double>(999 - i)); }
}

TEST_CASE("words that were said lose: positive logits are divided, negative ones multiplied") {
  const tensor<float, vocab> given({3.F, 2.F, -1.F, -1.5F}, vocab{4});
  auto c = chosen(given).repetition_penalty(std::vector{token{0}, token{2}, token{0}}, 2);
  CHECK(words(c) == ids{1, 0, 3, 2});
  CHECK(c.left()[1].logit == doctest::Approx(1.5));
  CHECK(c.left()[3].logit == doctest::Approx(-2));
  nn::random draw(1);
  const models::sampling greedy{.temperature = 0, .repetition_penalty = 2, .penalised = 1};
  CHECK(models::sample(given, greedy, std::vector{token{1}, token{0}}, draw) ==
        token{1});  // the last word alone is penalised
  CHECK(models::sample(given, greedy, std::vector{token{0}, token{1}}, draw) == token{0});
  CHECK(models::sample(given, greedy, {}, draw) == token{0});
}

TEST_CASE("temperature sharpens; words come as often as they are probable, the same for the same seed") {
  auto sharp = chosen(logits()).temperature(0.5);
  CHECK(sharp.probabilities()[0] == doctest::Approx(0.16 / 0.30));
  CHECK(words(chosen(logits()).temperature(0)) == ids{1});
  const models::sampling plain{.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0};
  const auto drawn = [&](std::uint64_t seed, std::size_t count) {
    nn::random draw(seed);
    std::vector<double> often(4);
    for (std::size_t i = 0; i < count; ++i) {
      often[static_cast<std::size_t>(models::sample(logits(), plain, {}, draw).value)] +=
          1 / static_cast<double>(count);
    }
    return often;
  };
  const auto often = drawn(1, 20000);
  const double expected[] = {0.1, 0.4, 0.2, 0.3};
  for (std::size_t i = 0; i < 4; ++i) { CHECK(std::abs(often[i] - expected[i]) < 0.015); }  // 4 standard deviations
  CHECK(drawn(7, 50) == drawn(7, 50));
  CHECK(drawn(7, 50) != drawn(8, 50));
}

TEST_CASE("what cannot be drawn from is refused") {
  struct words : dimwise::choice_dim<> {};
  using dimwise::number_error;
  const auto draw = [](const std::vector<float>& logits, const dimwise::models::sampling& how) {
    dimwise::nn::random numbers(1);
    const std::vector said{dimwise::id<words>{0}};
    return dimwise::models::sample(dimwise::tensor<float, words>(logits, words{logits.size()}), how, said, numbers);
  };
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  const auto nan = static_cast<float>(no_number);
  const std::vector<float> logits{1, 3, 2};
  CHECK_THROWS_AS(static_cast<void>(draw({}, {})), dimwise::extent_error);
  CHECK_THROWS_AS(static_cast<void>(draw({}, {.temperature = 0})), dimwise::extent_error);
  for (const double bad : {-1.0, no_number}) {
    CHECK_THROWS_AS(static_cast<void>(draw(logits, {.temperature = bad})), number_error);
    CHECK_THROWS_AS(static_cast<void>(draw(logits, {.top_p = bad})), number_error);
    CHECK_THROWS_AS(static_cast<void>(draw(logits, {.min_p = bad})), number_error);
    CHECK_THROWS_AS(static_cast<void>(draw(logits, {.temperature = 0, .top_p = bad})), number_error);
    CHECK_THROWS_AS(static_cast<void>(draw(logits, {.temperature = 0, .min_p = bad})), number_error);
    CHECK_THROWS_AS(static_cast<void>(draw(logits, {.repetition_penalty = bad})), number_error);
  }
  const auto told = [&](const dimwise::models::sampling& how) {
    return dimwise_test::thrown<number_error>([&] { (void)draw(logits, how); });
  };
  CHECK(told({.repetition_penalty = 0}) ==
        "sampling: the repetition penalty is 0, a finite number of more than 0 is expected");
  CHECK(told({.temperature = -1}) == "sampling: the temperature is -1, a number of 0 or more is expected");
  CHECK(told({.top_p = -0.5}) == "sampling: top_p is -0.5, a number of 0 or more is expected");
  CHECK(dimwise_test::thrown<number_error>([&] { (void)draw({1, nan, 2}, {}); }) ==
        "sampling: the logit of token 1 is NaN");
  const auto after = [&](std::size_t earlier, const dimwise::models::sampling& how) {
    dimwise::nn::random numbers(1);
    const std::vector said{dimwise::id<words>{earlier}, dimwise::id<words>{0}};
    (void)dimwise::models::sample(dimwise::tensor<float, words>(logits, words{3}), how, said, numbers);
  };
  for (const double penalty : {1.0, 1.5}) {
    CHECK(dimwise_test::thrown<dimwise::index_error>([&] { after(3, {.repetition_penalty = penalty}); }) ==
          "sampling: the earlier id 3 is outside dimension words of extent 3 (R18)");
    CHECK_NOTHROW(after(2, {.top_k = 1, .repetition_penalty = penalty}));
    CHECK_NOTHROW(after(3, {.repetition_penalty = penalty, .penalised = 1}));  // it is not read
  }
  CHECK_THROWS_AS(static_cast<void>(draw({nan, nan, nan}, {})), number_error);
  // Neither the likeliest word nor the steps before the draw may hide one.
  CHECK_THROWS_AS(static_cast<void>(draw({nan, nan, nan}, {.temperature = 0})), number_error);
  CHECK_THROWS_AS(static_cast<void>(draw({1, nan, 2}, {.temperature = 0})), number_error);
  CHECK_THROWS_AS(static_cast<void>(draw({1, nan, 2}, {.top_k = 1})), number_error);
  CHECK(draw({-std::numeric_limits<float>::infinity(), 1, 0}, {.temperature = 0}).value == 1);
  CHECK(draw(logits, {.top_k = 100, .top_p = 0}).value == 1);
}
