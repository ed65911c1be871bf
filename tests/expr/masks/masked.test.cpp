// tests/expr/masks/masked.test.cpp -- what masks and biases do to softmax, reductions and elementwise operations.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::allow;
using dimwise::biased;
using dimwise::causal;
using dimwise::masked;
using dimwise::padding;
using dimwise::softmax;
using dimwise::tensor;

// Softmax over the visible ones of n numbers, 0 elsewhere.
template <class X, class V>
double weight(std::size_t n, X x, V visible, std::size_t at) {
  return visible(at) ? std::exp(x(at)) / sum_of(n, [&](auto j) { return visible(j) ? std::exp(x(j)) : 0.0; }) : 0.0;
}

}  // namespace

TEST_CASE("masked softmax: weights of what is visible, exactly 0 elsewhere and in rows without anything visible") {
  for (const std::size_t n : counts{0, 1, 4, 9}) {
    const auto x = drawn<tensor<float, batch, seq, key>>(1, batch{2}, seq{3}, key{n});
    const auto given = drawn<tensor<bool, seq, key, batch>>(2, seq{3}, key{n}, batch{2});
    const auto expected = [&](auto b, auto i, auto j) {
      return weight(n, [&](auto t) { return double{el(x, b, i, t)}; }, [&](auto t) { return el(given, i, t, b); }, j);
    };
    const auto p = softmax<key>(masked(x, allow(given)));
    CHECK(agrees(p, {2, 3, n}, 16, expected) == "");
    const tensor<float, batch, seq, key, dimwise::normalised<key>> stored = p;
    CHECK(differences(stored, {2, 3, n}, float32(16),
                      [&](auto b, auto i, auto j) { return el(given, i, j, b) ? expected(b, i, j) : 0.0; }) == "");
    for (std::size_t e = 0; e < stored.size(); ++e) { CHECK(stored.values()[e] >= 0); }
    tensor<bool, seq, key, batch> none(seq{3}, key{n}, batch{2});
    CHECK(agrees(softmax<key>(masked(x, allow(none))), {2, 3, n}, 0, [](auto, auto, auto) { return 0.0; }) == "");
  }
}

TEST_CASE("masked: a mask may add parallel dimensions, which come last") {
  const auto x = drawn<tensor<float, seq, key>>(3, seq{3}, key{4});
  const tensor<int, batch> lengths({4, 1, 0}, batch{3});
  const auto expected = [&](auto i, auto j, auto b) {
    return weight(4, [&](auto t) { return double{el(x, i, t)}; },
                  [&](auto t) { return static_cast<int>(t) < el(lengths, b); }, j);
  };
  CHECK(agrees(softmax<key>(masked(x, padding<key>(lengths))), {3, 4, 3}, 12, expected) == "");
  const auto given = drawn<tensor<bool, batch, key>>(4, batch{3}, key{4});
  CHECK(
      agrees(softmax<key>(masked(x, padding<key>(lengths) | allow(given))), {3, 4, 3}, 12, [&](auto i, auto j, auto b) {
    return weight(4, [&](auto t) { return double{el(x, i, t)}; },
                  [&](auto t) { return static_cast<int>(t) < el(lengths, b) || el(given, b, t); }, j);
  }) == "");
  CHECK(agrees(softmax<key>(
                   masked(masked(x, causal<seq, key>{dimwise::starting_at(seq{3}, 1), key{4}}), padding<key>(lengths))),
               {3, 4, 3}, 12, [&](auto i, auto j, auto b) {
    return weight(4, [&](auto t) { return double{el(x, i, t)}; },
                  [&](auto t) { return t <= i + 1 && static_cast<int>(t) < el(lengths, b); }, j);
  }) == "");
}

TEST_CASE("masked: a mask over the keys of several dimensions, softmax over both") {
  const auto x = drawn<tensor<float, seq, key, source>>(5, seq{2}, key{3}, source{2});
  const auto given = drawn<tensor<bool, source, key>>(6, source{2}, key{3});
  CHECK(agrees(softmax<key, source>(masked(x, allow(given))), {2, 3, 2}, 12, [&](auto i, auto j, auto k) {
    return weight(6, [&](auto t) { return double{el(x, i, t / 2, t % 2)}; },
                  [&](auto t) { return el(given, t % 2, t / 2); }, j * 2 + k);
  }) == "");
}

TEST_CASE("masked: arithmetic, permutation and renaming leave what is hidden hidden") {
  const auto x = drawn<tensor<float, seq, key>>(7, seq{3}, key{3});
  const causal<seq, key> c;
  const auto visible = [](auto i) { return [=](auto t) { return t <= i; }; };
  CHECK(agrees(softmax<key>(masked(x, c) * -2), {3, 3}, 12, [&](auto i, auto j) {
    return weight(3, [&](auto t) { return -2.0 * el(x, i, t); }, visible(i), j);
  }) == "");
  CHECK(agrees(softmax<key>(1 - masked(x, c)), {3, 3}, 12, [&](auto i, auto j) {
    return weight(3, [&](auto t) { return 1.0 - el(x, i, t); }, visible(i), j);
  }) == "");
  CHECK(agrees(softmax<key>(masked(x, c) + infinite * 0.0F), {3, 3}, 0,
               [&](auto i, auto j) { return j <= i ? double{not_a_number} : 0.0; }) == "");
  CHECK(agrees(softmax<key>(dimwise::permute<key, seq>(masked(x, c))), {3, 3}, 12, [&](auto j, auto i) {
    return weight(3, [&](auto t) { return double{el(x, i, t)}; }, visible(i), j);
  }) == "");
  CHECK(agrees(softmax<source>(dimwise::relabel<key, source>(masked(x, c))), {3, 3}, 12, [&](auto i, auto j) {
    return weight(3, [&](auto t) { return double{el(x, i, t)}; }, visible(i), j);
  }) == "");
  CHECK(agrees(dimwise::exp(masked(x, c)), {3, 3}, 2,
               [&](auto i, auto j) { return j <= i ? std::exp(double{el(x, i, j)}) : 0; }) == "");
  CHECK(agrees(dimwise::sigmoid(masked(x, c)), {3, 3}, 3,
               [&](auto i, auto j) { return j <= i ? 1 / (1 + std::exp(-double{el(x, i, j)})) : 0; }) == "");
}

TEST_CASE("masked: what was hidden has no effect, be it NaN or infinite") {
  for (const float hidden : {not_a_number, infinite, -infinite, 3e38F}) {
    const auto clean = drawn<tensor<float, seq, key>>(8, seq{4}, key{4});
    auto x = clean;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = i + 1; j < 4; ++j) { x.set(hidden, dimwise::id<seq>(i), dimwise::id<key>(j)); }
    }
    const causal<seq, key> c;
    const auto wanted = [&](const auto& e) { return [y = dimwise::evaluate(e)](auto... at) { return el(y, at...); }; };
    CHECK(agrees(softmax<key>(masked(x, c)), {4, 4}, 1, wanted(dimwise::reference(softmax<key>(masked(clean, c))))) ==
          "");
    CHECK(agrees(dimwise::log_softmax<key>(masked(x, c)), {4, 4}, 4,
                 wanted(dimwise::reference(dimwise::log_softmax<key>(masked(clean, c))))) == "");
    CHECK(agrees(dimwise::logsumexp<key>(masked(x, c)), {4}, 4,
                 wanted(dimwise::reference(dimwise::logsumexp<key>(masked(clean, c))))) == "");
    CHECK(agrees(dimwise::sum<key>(x, c), {4}, 4, wanted(dimwise::reference(dimwise::sum<key>(clean, c)))) == "");
    CHECK(agrees(dimwise::min<key>(x, c), {4}, 0, wanted(dimwise::reference(dimwise::min<key>(clean, c)))) == "");
  }
}

TEST_CASE("masked reductions: what is hidden does not count; the mean of nothing is 0") {
  const auto x = drawn<tensor<float, batch, seq, d_k>>(9, batch{3}, seq{5});
  const tensor<int, batch> lengths({5, 2, 0}, batch{3});
  const auto n = [&](auto b) { return static_cast<std::size_t>(el(lengths, b)); };
  const auto total = [&](auto b, auto d) { return sum_of(n(b), [&](auto s) { return double{el(x, b, s, d)}; }); };
  const auto m = padding<seq>(lengths);
  CHECK(agrees(dimwise::sum<seq>(x, m), {3, 4}, 5, total) == "");
  CHECK(agrees(dimwise::mean<seq>(x, m), {3, 4}, 6,
               [&](auto b, auto d) { return n(b) == 0 ? 0 : total(b, d) / static_cast<double>(n(b)); }) == "");
  const auto extreme = [&](auto b, auto d, double start, auto better) {
    for (std::size_t s = 0; s < n(b); ++s) { start = better(start, double{el(x, b, s, d)}); }
    return start;
  };
  CHECK(agrees(dimwise::max<seq>(x, m), {3, 4}, 0, [&](auto b, auto d) {
    return extreme(b, d, -infinite, [](double p, double q) { return std::fmax(p, q); });
  }) == "");
  CHECK(agrees(dimwise::min<seq>(x, m), {3, 4}, 0, [&](auto b, auto d) {
    return extreme(b, d, infinite, [](double p, double q) { return std::fmin(p, q); });
  }) == "");
}

TEST_CASE("masked log_softmax and logsumexp: -inf where hidden, and for rows without anything visible") {
  const auto x = drawn<tensor<float, batch, key>>(10, batch{3}, key{4});
  const tensor<int, batch> lengths({4, 1, 0}, batch{3});
  const auto total = [&](auto b) {
    return sum_of(static_cast<std::size_t>(el(lengths, b)), [&](auto t) { return std::exp(double{el(x, b, t)}); });
  };
  CHECK(agrees(dimwise::logsumexp<key>(masked(x, padding<key>(lengths))), {3}, 8,
               [&](auto b) { return std::log(total(b)); }) == "");
  CHECK(agrees(dimwise::log_softmax<key>(masked(x, padding<key>(lengths))), {3, 4}, 8, [&](auto b, auto t) {
    return static_cast<int>(t) < el(lengths, b) ? el(x, b, t) - std::log(total(b)) : -double{infinite};
  }) == "");
}

TEST_CASE("biased: added by name, with parallel dimensions of its own; what is masked stays masked") {
  const auto q = drawn<tensor<float, seq, d_k>>(11, seq{3});
  const auto k = drawn<tensor<float, key, d_k>>(12, key{3});
  const auto bias = drawn<tensor<float, heads, key, seq>>(13, key{3}, seq{3});
  const auto s = dimwise::scores<d_k>(q, k);
  const auto score = [&](auto i, auto j) {
    return sum_of(4, [&](auto d) { return double{el(q, i, d)} * el(k, j, d); }) / 2;
  };
  CHECK(agrees(biased(s, bias), {3, 3, 3}, 10,
               [&](auto i, auto j, auto h) { return score(i, j) + el(bias, h, j, i); }) == "");
  const auto expected = [&](auto i, auto j, auto h) {
    return weight(3, [&](auto t) { return score(i, t) + el(bias, h, t, i); }, [&](auto t) { return t <= i; }, j);
  };
  CHECK(agrees(softmax<key>(masked(biased(s, bias), causal<seq, key>{})), {3, 3, 3}, 20, expected) == "");
  CHECK(agrees(softmax<key>(biased(masked(s, causal<seq, key>{}), bias)), {3, 3, 3}, 20, expected) == "");
  const tensor<float, key> endless({infinite, 0, 0}, key{3});
  const tensor<bool, key> hidden({true, false, false}, key{3});
  CHECK(agrees(softmax<key>(biased(masked(s, dimwise::allow_of(dimwise::block(hidden))), endless)), {3, 3}, 20,
               [&](auto i, auto j) {
    return weight(3, [&](auto t) { return score(i, t); }, [](auto t) { return t > 0; }, j);
  }) == "");
}

TEST_CASE("masked reductions: a visible -inf counts") {
  const tensor<float, seq, key> x({-infinite, 1, 2, 3, -infinite, -infinite}, seq{2}, key{3});
  const tensor<bool, seq, key> visible({true, true, false, false, true, true}, seq{2}, key{3});
  const auto m = allow(visible);
  CHECK(agrees(dimwise::sum<key>(x, m), {2}, 0, [](auto) { return -infinite; }) == "");
  CHECK(agrees(dimwise::mean<key>(x, m), {2}, 0, [](auto) { return -infinite; }) == "");
  CHECK(agrees(dimwise::min<key>(x, m), {2}, 0, [](auto) { return -infinite; }) == "");
  CHECK(agrees(dimwise::max<key>(x, m), {2}, 0, [](auto s) { return s == 0 ? 1 : -infinite; }) == "");
  const tensor<dimwise::id<key>, seq> best = dimwise::argmax<key>(masked(x, m));
  CHECK(differences(best, {2}, 0, [](auto) { return 1; }) == "");
}

TEST_CASE("masked argmax: the largest of what is visible; of nothing there is none") {
  const tensor<float, seq, key> x({9, 1, 2, 9, 9, 2, 3, 5, 4}, seq{3}, key{3});
  const tensor<bool, key> hidden({true, false, false}, key{3});
  const tensor<dimwise::id<key>, seq> best = dimwise::argmax<key>(masked(x, dimwise::allow_of(dimwise::block(hidden))));
  const std::size_t expected[] = {2, 1, 1};
  CHECK(differences(best, {3}, 0, [&](auto s) { return expected[s]; }) == "");
  CHECK(thrown<dimwise::index_error>([&] {
    (void)dimwise::evaluate(dimwise::argmax<key>(masked(x, padding<key>(0))));
  }).starts_with("argmax: "));
}
