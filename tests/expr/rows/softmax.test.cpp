// tests/expr/rows/softmax.test.cpp -- softmax, log_softmax, logsumexp, renormalise of what is not masked (reduce.hpp).
//
// Masks: tests/expr/masks/mask.test.cpp. SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::log_softmax;
using dimwise::logsumexp;
using dimwise::renormalise;
using dimwise::softmax;
using dimwise::tensor;

}  // namespace

TEST_CASE("softmax: every extent from 0 on, and every place of its dimension") {
  for (const std::size_t b : counts{0, 1, 2}) {
    for (const std::size_t n : counts{0, 1, 2, 9}) {
      const auto x = drawn<tensor<float, batch, seq, key>>(1, batch{b}, seq{3}, key{n});
      const auto total = [&](auto i, auto s) {
        return sum_of(n, [&](auto t) { return std::exp(double{el(x, i, s, t)}); });
      };
      const auto expected = [&](auto i, auto s, auto t) { return std::exp(double{el(x, i, s, t)}) / total(i, s); };
      // exp of a difference of magnitude ≤ 2, n sums, one quotient.
      const double roundings = 6 + static_cast<double>(n);
      CHECK(agrees(softmax<key>(x), {b, 3, n}, roundings, expected) == "");
      const tensor<float, key, batch, seq> turned = x;
      CHECK(agrees(softmax<key>(turned), {n, b, 3}, roundings,
                   [&](auto t, auto i, auto s) { return expected(i, s, t); }) == "");
      CHECK(agrees(softmax<key>(scattered(x).view()), {b, 3, n}, roundings, expected) == "");
      CHECK(agrees(log_softmax<key>(x), {b, 3, n}, roundings,
                   [&](auto i, auto s, auto t) { return std::log(expected(i, s, t)); }) == "");
      CHECK(agrees(logsumexp<key>(x), {b, 3}, roundings, [&](auto i, auto s) { return std::log(total(i, s)); }) == "");
    }
  }
}

TEST_CASE("softmax: over several dimensions together, which need not be neighbours") {
  const auto x = drawn<tensor<float, key, batch, source>>(2, key{3}, batch{2}, source{5});
  const auto total = [&](auto b) {
    return sum_of(3, [&](auto t) { return sum_of(5, [&](auto s) { return std::exp(double{el(x, t, b, s)}); }); });
  };
  const auto expected = [&](auto t, auto b, auto s) { return std::exp(double{el(x, t, b, s)}) / total(b); };
  CHECK(agrees(softmax<key, source>(x), {3, 2, 5}, 20, expected) == "");
  CHECK(agrees(softmax<source, key>(x), {3, 2, 5}, 20, expected) == "");
  CHECK(agrees(log_softmax<key, source>(x), {3, 2, 5}, 20,
               [&](auto t, auto b, auto s) { return std::log(expected(t, b, s)); }) == "");
  CHECK(agrees(logsumexp<source, key>(x), {2}, 20, [&](auto b) { return std::log(total(b)); }) == "");
}

TEST_CASE("softmax: neither large numbers nor long rows overflow") {
  const tensor<float, vocab> large({3e38F, 3e38F, -3e38F, 1.0F}, vocab{4});
  CHECK(differences(tensor<float, vocab, dimwise::normalised<vocab>>(softmax<vocab>(large)), {4}, 0,
                    [](auto i) { return i < 2 ? 0.5 : 0.0; }) == "");
  const tensor<float, vocab> low({-3e38F, -3e38F}, vocab{2});
  CHECK(differences(tensor<float, vocab, dimwise::normalised<vocab>>(softmax<vocab>(low)), {2}, 0,
                    [](auto) { return 0.5; }) == "");
  CHECK(el(dimwise::tensor(log_softmax<vocab>(large)), 0) == doctest::Approx(-std::log(2.0)));
  CHECK(el(dimwise::tensor(log_softmax<vocab>(large)), 3) == doctest::Approx(-3e38));
  const tensor<float> total = logsumexp<vocab>(large);
  CHECK(*total.values().data() == 3e38F);
  const auto row = drawn<tensor<float, vocab>>(3, vocab{10000});
  const double sum = sum_of(10000, [&](auto i) { return std::exp(double{el(row, i)}); });
  // 10000 sums in a row of numbers near 1: an error of 10000 · 2^-24 relative at most.
  const tensor<float, vocab, dimwise::normalised<vocab>> p = softmax<vocab>(row);
  CHECK(differences(p, {10000}, float32(1), [&](auto i) { return std::exp(double{el(row, i)}) / sum; }) == "");
}

TEST_CASE("softmax: NaN and +inf among the operands give NaN in their row only, -inf gives 0") {
  const tensor<float, seq, key> x({0, not_a_number, 1, 2, 3, 4, infinite, 0, 0, -infinite, 0, 0}, seq{4}, key{3});
  const tensor<float, seq, key, dimwise::normalised<key>> p = softmax<key>(x);
  for (const std::size_t t : counts{0, 1, 2}) {
    CHECK(std::isnan(el(p, 0, t)));
    CHECK(std::isfinite(el(p, 1, t)));
    CHECK(!(el(p, 2, t) > 0));  // ∞/∞ is NaN; the others vanish or are NaN, too
  }
  CHECK(el(p, 3, 0) == 0);
  CHECK(el(p, 3, 1) == 0.5F);
}

TEST_CASE("renormalise: sums to one again, rows of sum 0 stay 0") {
  const tensor<float, seq, vocab> x({1, 3, 0, 0, 0.5F, 0.5F, -1, 1}, seq{4}, vocab{2});
  CHECK(agrees(renormalise<vocab>(x), {4, 2}, 1, [&](auto s, auto v) {
    const double total = double{el(x, s, 0)} + el(x, s, 1);
    return total == 0 ? 0 : el(x, s, v) / total;
  }) == "");
  const auto logits = drawn<tensor<float, seq, key>>(4, seq{3}, key{4});
  // Slot attention: weights over one side, renormalised over the other.
  const auto weight = [&](auto s, auto t) {
    return std::exp(double{el(logits, s, t)}) / sum_of(3, [&](auto i) { return std::exp(double{el(logits, i, t)}); });
  };
  CHECK(agrees(renormalise<key>(softmax<seq>(logits)), {3, 4}, 20,
               [&](auto s, auto t) { return weight(s, t) / sum_of(4, [&](auto j) { return weight(s, j); }); }) == "");
}
