// tests/expr/products/scores.test.cpp -- scores, scaled and unscaled against q·k / √n in double.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::contract;
using dimwise::scaled;
using dimwise::scores;
using dimwise::tensor;
using dimwise::unscaled;

struct rope : dimwise::feature_dim<6> {};  // a second feature beside d_k

}  // namespace

TEST_CASE("scores: products over √ of a static extent") {
  for (const std::size_t s : counts{0, 1, 3}) {
    for (const std::size_t t : counts{0, 1, 5}) {
      const auto q = drawn<tensor<float, batch, seq, heads, d_k>>(1, batch{2}, seq{s});
      const auto k = drawn<tensor<float, batch, key, heads, d_k>>(2, batch{2}, key{t});
      const auto expected = [&](auto b, auto h, auto i, auto j) {
        return sum_of(4, [&](auto d) { return double{el(q, b, i, h, d)} * el(k, b, j, h, d); }) / 2;
      };
      CHECK(agrees(scores<d_k>(q, k), {2, 3, s, t}, 9, expected) == "");  // 4 products, 4 sums, 1 scale
      CHECK(agrees(scaled<d_k>(contract<d_k>(q, k)), {2, 3, s, t}, 9, expected) == "");
      CHECK(agrees(scores<d_k>(scattered(q).view(), scattered(k).view()), {2, 3, s, t}, 9, expected) == "");
      CHECK(agrees(unscaled(contract<d_k>(q, k)), {2, 3, s, t}, 8,
                   [&](auto b, auto h, auto i, auto j) { return 2 * expected(b, h, i, j); }) == "");
    }
  }
}

TEST_CASE("scores: √ of an extent that is known when the program runs, also behind arithmetic") {
  for (const std::size_t n : counts{1, 2, 7}) {
    const auto q = drawn<tensor<float, seq, width>>(3, seq{2}, width{n});
    const auto k = drawn<tensor<float, key, width>>(4, key{3}, width{n});
    const double root = std::sqrt(static_cast<double>(n));
    const auto product = [&](auto i, auto j) {
      return sum_of(n, [&](auto w) { return double{el(q, i, w)} * el(k, j, w); });
    };
    CHECK(agrees(scores<width>(q, k), {2, 3}, 16, [&](auto i, auto j) { return product(i, j) / root; }) == "");
    CHECK(agrees(scaled<width>(contract<width>(q, k)), {2, 3}, 16,
                 [&](auto i, auto j) { return product(i, j) / root; }) == "");
    CHECK(agrees(scaled<width>(contract<width>(q, k) * 3.0F), {2, 3}, 17,
                 [&](auto i, auto j) { return 3 * product(i, j) / root; }) == "");
    CHECK(agrees(scaled(contract<width>(q, k), 0.25F), {2, 3}, 16, [&](auto i, auto j) { return product(i, j) / 4; }) ==
          "");
  }
}

TEST_CASE("scores: over several features at once, the root of their product") {
  const auto q = drawn<tensor<float, batch, seq, heads, d_k>>(5, batch{2}, seq{3});
  const auto k = drawn<tensor<float, batch, key, heads, d_k>>(6, batch{2}, key{5});
  const auto x = drawn<tensor<float, seq, rope, width>>(7, seq{3}, width{2});
  const auto y = drawn<tensor<float, key, rope, width>>(8, key{4}, width{2});
  CHECK(agrees(scores<rope, width>(x, y), {3, 4}, 25, [&](auto i, auto j) {
    return sum_of(6, [&](auto r) {
      return sum_of(2, [&](auto w) { return double{el(x, i, r, w)} * el(y, j, r, w); });
    }) / std::sqrt(12.0);
  }) == "");
  CHECK(differ(tensor(scaled<rope, width>(contract<rope, width>(x, y))), tensor(scores<rope, width>(x, y)),
               float32(25)) == "");
  CHECK(differ(tensor(scaled<heads, d_k>(contract<heads, d_k>(q, k))),
               tensor(scaled(contract<heads, d_k>(q, k), static_cast<float>(1 / std::sqrt(12.0)))), float32(25)) == "");
}

TEST_CASE("scaled, unscaled: one query that has lost its position is scaled as its scores are") {
  const auto q = drawn<tensor<float, heads, d_k>>(5);
  const auto k = drawn<tensor<float, key, heads, d_k>>(6, key{5});
  const tensor expected = scores<d_k>(q, k);
  CHECK(differ(tensor(scaled<d_k>(contract<d_k>(q, k))), expected, float32(9)) == "");
  CHECK(differ(tensor(scaled<d_k>(contract<d_k>(k, q))), expected, float32(9)) == "");
  CHECK(differ(tensor(scaled(contract<d_k>(q, k), 0.5F)), expected, float32(9)) == "");  // d_k is 4
  CHECK(differ(tensor(dimwise::plain(unscaled(contract<d_k>(q, k)))), tensor(dimwise::plain(expected) * 2.0F),
               float32(9)) == "");
}

TEST_CASE("scaled: a sum of raw products is scaled once, by the root of all features") {
  const auto q = drawn<tensor<float, seq, d_k>>(9, seq{2});
  const auto k = drawn<tensor<float, key, d_k>>(10, key{3});
  const auto q_r = drawn<tensor<float, seq, rope>>(11, seq{2});
  const auto k_r = drawn<tensor<float, key, rope>>(12, key{3});
  CHECK(agrees(scaled<dimwise::summed<d_k, rope>>(contract<d_k>(q, k) + contract<rope>(q_r, k_r)), {2, 3}, 24,
               [&](auto i, auto j) {
    return (sum_of(4, [&](auto d) { return double{el(q, i, d)} * el(k, j, d); }) + sum_of(6, [&](auto d) {
      return double{el(q_r, i, d)} * el(k_r, j, d);
    })) / std::sqrt(10.0);
  }) == "");
}

TEST_CASE("scaled: by a tensor of the user's own, one number for each head") {
  const auto q = drawn<tensor<float, seq, heads, d_k>>(13, seq{2});
  const auto k = drawn<tensor<float, key, heads, d_k>>(14, key{3});
  const auto temperature = drawn<tensor<float, heads>>(15);
  CHECK(agrees(scaled(contract<d_k>(q, k), temperature), {3, 2, 3}, 9, [&](auto h, auto i, auto j) {
    return sum_of(4, [&](auto d) { return double{el(q, i, h, d)} * el(k, j, h, d); }) * el(temperature, h);
  }) == "");
}

TEST_CASE("scaled: by a number for each sequence of a batch that the scores lack") {
  for (const std::size_t n : dimwise_test::counts{3, 17, 40}) {
    const auto q = drawn<tensor<float, seq, heads, d_k>>(13, seq{n});
    const auto k = drawn<tensor<float, key, heads, d_k>>(14, key{n});
    const auto v = drawn<tensor<float, key, heads, d_v>>(16, key{n});
    const auto temperature = drawn<tensor<float, batch>>(15, batch{4});
    const auto of_each = drawn<tensor<float, batch, heads>>(17, batch{4});
    const auto product = [&](auto h, auto i, auto j) {
      return sum_of(4, [&](auto d) { return double{el(q, i, h, d)} * el(k, j, h, d); });
    };
    const auto s = scaled(contract<d_k>(q, k), temperature);
    static_assert(std::is_same_v<decltype(s)::shape_type, dimwise::shape<heads, seq, key, batch, dimwise::score<d_k>>>);
    CHECK(agrees(s, {3, n, n, 4}, 9,
                 [&](auto h, auto i, auto j, auto b) { return product(h, i, j) * el(temperature, b); }) == "");
    CHECK(agrees(scaled(contract<d_k>(q, k), of_each), {3, n, n, 4}, 9,
                 [&](auto h, auto i, auto j, auto b) { return product(h, i, j) * el(of_each, b, h); }) == "");
    // In attention, behind a mask, as the reference loops compute it.
    const auto z = dimwise::contract<key>(dimwise::softmax<key>(dimwise::masked(s, dimwise::causal<seq, key>{})), v);
    const auto exact = dimwise::reference(z);
    CHECK(agrees(z, {3, n, 4, dimwise::extent_of<d_v>(v)}, 60, [&](auto... at) { return el(exact, at...); }) == "");
  }
}

TEST_CASE("scores: one query, whose position was taken by `at`, against many keys") {
  const auto q = drawn<tensor<float, seq, d_k>>(16, seq{4});
  const auto k = drawn<tensor<float, key, d_k>>(17, key{5});
  CHECK(agrees(scores<d_k>(dimwise::at<seq>(q, 2), k), {5}, 9,
               [&](auto j) { return sum_of(4, [&](auto d) { return double{el(q, 2, d)} * el(k, j, d); }) / 2; }) == "");
}
