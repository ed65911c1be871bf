// tests/equations/statistics.test.cpp -- the formulas that Named Tensor Notation's source keeps in comments, and kin.
//
// Group normalisation, Bayes' rule, continuous bag of words, sudoku, k-means, beam search, the multivariate normal,
// against
// loops in double. SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace statistics {

using namespace dimwise;
using namespace dimwise_test;

struct batch : batch_dim<> {};
struct vocab : choice_dim<7> {};
struct layer : feature_dim<4> {};

TEST_CASE("group normalisation: channels in groups") {
  struct groups : batch_dim<2> {};
  struct members : feature_dim<3> {};
  using chans = merged<groups, members>;
  struct position : position_dim<> {};
  const auto X = drawn<tensor<float, batch, chans, position>>(1, batch{2}, position{4});
  const auto gamma = drawn<tensor<float, chans>>(2);
  const auto beta = drawn<tensor<float, chans>>(3);
  // [group_norm]
  const auto N = standardize<members, position>(split<groups, members>(X));  // each example, each group of channels
  const auto Y = merge<groups, members>(N) * gamma + beta;
  // [/group_norm]
  CHECK(agrees(Y, {2, 6, 4}, 80, [&](auto n, auto c, auto p) {
    const auto x = [&](auto m, auto q) { return double{el(X, n, c / 3 * 3 + m, q)}; };
    const double average = sum_of(3, [&](auto m) { return sum_of(4, [&](auto q) { return x(m, q); }); }) / 12;
    const double variance =
        sum_of(3, [&](auto m) { return sum_of(4, [&](auto q) { return std::pow(x(m, q) - average, 2); }); }) / 12;
    return (x(c % 3, p) - average) / std::sqrt(variance + 1e-5) * el(gamma, c) + el(beta, c);
  }) == "");
}

TEST_CASE("Bayes' rule") {
  struct cause : choice_dim<3> {};
  struct effect : choice_dim<4> {};
  const tensor<float, cause, normalised<cause>> P_A = softmax<cause>(drawn<tensor<float, cause>>(4));
  const tensor<float, cause, effect, normalised<effect>> P_B_A =
      softmax<effect>(drawn<tensor<float, cause, effect>>(5));
  // [bayes]
  const auto evidence = contract<cause>(P_A, P_B_A);       // P(B) = Σ_A P(A) P(B | A)
  const auto posterior = renormalise<cause>(P_A * P_B_A);  // P(A | B) = P(A) P(B | A) / P(B)
  const auto spelled = P_A * P_B_A / evidence;
  // [/bayes]
  const auto p_b = [&](auto b) { return sum_of(3, [&](auto a) { return double{el(P_A, a)} * el(P_B_A, a, b); }); };
  const auto expected = [&](auto a, auto b) { return double{el(P_A, a)} * el(P_B_A, a, b) / p_b(b); };
  CHECK(agrees(evidence, {4}, 6, p_b) == "");
  CHECK(agrees(posterior, {3, 4}, 10, expected) == "");
  CHECK(agrees(spelled, {3, 4}, 10, expected) == "");
}

TEST_CASE("continuous bag of words: the likelihood of the word in the middle") {
  struct context : position_dim<> {};
  struct emb : feature_dim<5> {};
  const auto E = drawn<tensor<float, vocab, emb>>(6);
  const auto U = drawn<tensor<float, vocab, emb>>(7);
  const auto words = drawn_ids<tensor<id<vocab>, batch, context>>(8, 7, batch{2}, context{4});
  const auto middle = drawn_ids<tensor<id<vocab>, batch>>(9, 7, batch{2});
  // [cbow]
  const auto h = mean<context>(gather<vocab>(E, words));  // the average of the context's embeddings
  const auto P = softmax<vocab>(contract<emb>(h, U));
  const auto L = -sum<batch>(log(gather<vocab>(P, middle)));
  // [/cbow]
  const auto average = [&](auto b, auto e) {
    return sum_of(4, [&](auto c) { return double{el(E, el(words, b, c).value, e)}; }) / 4;
  };
  const auto logit = [&](auto b, auto v) { return sum_of(5, [&](auto e) { return average(b, e) * el(U, v, e); }); };
  const auto p = [&](auto b, auto v) {
    return std::exp(logit(b, v)) / sum_of(7, [&](auto u) { return std::exp(logit(b, u)); });
  };
  CHECK(agrees(P, {2, 7}, 60, p) == "");
  CHECK(differences(dimwise::reference(L), {}, float64,
                    [&] { return -std::log(p(0, el(middle, 0).value)) - std::log(p(1, el(middle, 1).value)); }) == "");
}

TEST_CASE("sudoku: every number once in every row, column and block") {
  struct band : position_dim<2> {};
  struct row : position_dim<2> {};
  struct stack_of : position_dim<2> {};
  struct column : position_dim<2> {};
  struct digit : choice_dim<4> {};
  using height = merged<band, row>;
  using width = merged<stack_of, column>;
  tensor<float, height, width, digit> board;
  const std::size_t solved[4][4] = {{0, 1, 2, 3}, {2, 3, 0, 1}, {1, 0, 3, 2}, {3, 2, 1, 0}};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      board.set(1, id<band>(i / 2), id<row>(i % 2), id<stack_of>(j / 2), id<column>(j % 2), id<digit>(solved[i][j]));
    }
  }
  const auto is_solved = [](const auto& x) {
    // [sudoku]
    const auto blocks = split<stack_of, column>(split<band, row>(x));
    const auto one = [](auto n) { return n == 1 ? 1.0F : 0.0F; };
    const tensor<float> wrong = sum<width, digit>(1 - map(one, sum<height>(x))) +
                                sum<height, digit>(1 - map(one, sum<width>(x))) +
                                sum<band, stack_of, digit>(1 - map(one, sum<row, column>(blocks)));
    // [/sudoku]
    return *wrong.values().data() == 0;
  };
  CHECK(is_solved(board));
  board.set(0, id<band>(0), id<row>(0), id<stack_of>(0), id<column>(0), id<digit>(0));
  board.set(1, id<band>(0), id<row>(0), id<stack_of>(0), id<column>(0), id<digit>(1));
  CHECK(!is_solved(board));
}

TEST_CASE("k-means: one step") {
  struct clusters : choice_dim<2> {};
  const auto X = drawn<tensor<float, batch, layer>>(10, batch{6});
  const auto C = drawn<tensor<float, clusters, layer>>(11);
  const tensor<id<clusters>, clusters> every({id<clusters>(0), id<clusters>(1)});
  // [k_means]
  const auto distance = sum<layer>(square(broadcast_like(X, C) - C));  // |x − c|² in batch × clusters
  const auto nearest = argmax<clusters>(-distance);                    // argmin
  const auto assigned = map([](auto a, auto b) { return a == b ? 1.0F : 0.0F; }, broadcast_like(nearest, every), every);
  const auto moved = contract<batch>(assigned, X) / sum<batch>(assigned);  // the mean of those assigned
  // [/k_means]
  const auto d = [&](auto n, auto c) {
    return sum_of(4, [&](auto i) { return std::pow(double{el(X, n, i)} - el(C, c, i), 2); });
  };
  const auto of = [&](auto n) { return d(n, 0) <= d(n, 1) ? 0U : 1U; };
  CHECK(agrees(distance, {6, 2}, 20, d) == "");
  CHECK(differences(tensor(nearest), {6}, 0, of) == "");
  CHECK(agrees(moved, {2, 4}, 20, [&](auto c, auto i) {
    return sum_of(6, [&](auto n) { return of(n) == c ? double{el(X, n, i)} : 0.0; }) /
           sum_of(6, [&](auto n) { return of(n) == c ? 1.0 : 0.0; });
  }) == "");
}

TEST_CASE("beam search: the best continuations of all beams") {
  struct beam : choice_dim<2> {};
  struct word : choice_dim<5> {};
  struct best : prime<beam> {};
  const auto so_far = drawn<tensor<float, beam>>(12);
  const auto logits = drawn<tensor<float, beam, word>>(13);
  // [beam_search]
  const auto scored = log_softmax<word>(logits) + so_far;  // log P(y, w | x) = log P(y | x) + log P(w | x, y)
  const auto [values, ids] = top_k<merged<beam, word>, best>(merge<beam, word>(scored));
  const auto [beams, words] = split_ids(ids, beam{}, word{});
  // [/beam_search]
  const auto s = [&](auto b, auto w) {
    return el(logits, b, w) - std::log(sum_of(5, [&](auto u) { return std::exp(double{el(logits, b, u)}); })) +
           el(so_far, b);
  };
  std::vector<double> all;
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t w = 0; w < 5; ++w) { all.push_back(s(b, w)); }
  }
  auto sorted = all;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  CHECK(differences(values, {2}, float32(20), [&](auto k) { return sorted[k]; }) == "");
  CHECK(differences(ids, {2}, 0, [&](auto k) { return std::find(all.begin(), all.end(), sorted[k]) - all.begin(); }) ==
        "");
  CHECK(differences(beams, {2}, 0,
                    [&](auto k) { return (std::find(all.begin(), all.end(), sorted[k]) - all.begin()) / 5; }) == "");
  CHECK(differences(words, {2}, 0,
                    [&](auto k) { return (std::find(all.begin(), all.end(), sorted[k]) - all.begin()) % 5; }) == "");
}

TEST_CASE("the density of a multivariate normal") {
  struct layer_other : prime<layer> {};
  const auto X = drawn<tensor<float, batch, layer>>(14, batch{3});
  const auto mu = drawn<tensor<float, layer>>(15);
  const auto root = drawn<tensor<float, layer, layer_other>>(16);
  // The covariance is given by its inverse, R Rᵀ + 1, and the determinant of that: inverting is no operation of names.
  tensor<float, layer, layer_other> precision;
  double m[4][4];
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      precision.set(static_cast<float>(sum_of(4, [&](auto k) { return double{el(root, i, k)} * el(root, j, k); }) +
                                       (i == j ? 1 : 0)),
                    id<layer>(i), id<layer_other>(j));
      m[i][j] = el(precision, i, j);
    }
  }
  double det = 1;
  for (std::size_t i = 0; i < 4; ++i) {
    det *= m[i][i];
    for (std::size_t r = i + 1; r < 4; ++r) {
      const double f = m[r][i] / m[i][i];
      for (std::size_t c = i; c < 4; ++c) { m[r][c] -= f * m[i][c]; }
    }
  }
  // [normal_density]
  const auto Z = X - mu;
  const auto quadratic =
      contract<layer>(Z, contract<layer_other>(precision, rename<layer, layer_other>(Z)));  // (x − μ)ᵀ Σ⁻¹ (x − μ)
  const auto density = std::sqrt(det / std::pow(2 * 3.14159265358979323846, 4)) * exp(-0.5 * quadratic);
  // [/normal_density]
  CHECK(agrees(density, {3}, 200, [&](auto n) {
    const auto z = [&](auto i) { return double{el(X, n, i)} - el(mu, i); };
    const double q =
        sum_of(4, [&](auto i) { return sum_of(4, [&](auto j) { return z(i) * el(precision, i, j) * z(j); }); });
    return std::sqrt(det / std::pow(2 * 3.14159265358979323846, 4)) * std::exp(-q / 2);
  }) == "");
}

}  // namespace statistics
