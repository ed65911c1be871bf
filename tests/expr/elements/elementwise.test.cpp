// tests/expr/elements/elementwise.test.cpp -- arithmetic and `map` by name.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::id;
using dimwise::map;
using dimwise::tensor;

}  // namespace

TEST_CASE("elementwise: the four operations on equal shapes, from extent 0 on") {
  for (const std::size_t b : counts{0, 1, 2}) {
    for (const std::size_t s : counts{0, 1, 3}) {
      const auto x = drawn<tensor<float, batch, seq, d_k>>(1, batch{b}, seq{s});
      const auto y = drawn<tensor<float, batch, seq, d_k>>(2, batch{b}, seq{s});
      const auto away = drawn<tensor<float, batch, seq, d_k>>(3, batch{b}, seq{s}) + 2.0F;  // a divisor in [1, 3)
      const tensor<float, batch, seq, d_k> z = away;
      CHECK(agrees(x + y, {b, s, 4}, 1,
                   [&](auto i, auto p, auto d) { return double{el(x, i, p, d)} + el(y, i, p, d); }) == "");
      CHECK(agrees(x - y, {b, s, 4}, 1,
                   [&](auto i, auto p, auto d) { return double{el(x, i, p, d)} - el(y, i, p, d); }) == "");
      CHECK(agrees(x * y, {b, s, 4}, 1,
                   [&](auto i, auto p, auto d) { return double{el(x, i, p, d)} * el(y, i, p, d); }) == "");
      CHECK(agrees(x / z, {b, s, 4}, 1,
                   [&](auto i, auto p, auto d) { return double{el(x, i, p, d)} / el(z, i, p, d); }) == "");
      CHECK(agrees(-x, {b, s, 4}, 0, [&](auto i, auto p, auto d) { return -double{el(x, i, p, d)}; }) == "");
    }
  }
}

TEST_CASE("elementwise: numbers on either side") {
  const auto x = drawn<tensor<float, seq, d_k>>(4, seq{3});
  CHECK(agrees(x + 1, {3, 4}, 1, [&](auto s, auto d) { return el(x, s, d) + 1.0; }) == "");
  CHECK(agrees(2 - x, {3, 4}, 1, [&](auto s, auto d) { return 2.0 - el(x, s, d); }) == "");
  CHECK(agrees(0.5 * x, {3, 4}, 1, [&](auto s, auto d) { return 0.5 * el(x, s, d); }) == "");
  CHECK(agrees(x / 4.0F, {3, 4}, 1, [&](auto s, auto d) { return el(x, s, d) / 4.0; }) == "");
  CHECK(agrees(1 / (x + 3), {3, 4}, 2, [&](auto s, auto d) { return 1 / (el(x, s, d) + 3.0); }) == "");
}

TEST_CASE("elementwise: operands match by name, in any order; the smaller one is added, never stretched") {
  const auto x = drawn<tensor<float, batch, seq, d_k>>(5, batch{2}, seq{3});
  const auto turned = drawn<tensor<float, d_k, batch, seq>>(6, batch{2}, seq{3});
  const auto bias = drawn<tensor<float, d_k>>(7);
  const auto table = drawn<tensor<float, seq, batch>>(8, batch{2}, seq{3});
  CHECK(agrees(x + turned, {2, 3, 4}, 1,
               [&](auto b, auto s, auto d) { return double{el(x, b, s, d)} + el(turned, d, b, s); }) == "");
  CHECK(agrees(turned - x, {4, 2, 3}, 1,
               [&](auto d, auto b, auto s) { return double{el(turned, d, b, s)} - el(x, b, s, d); }) == "");
  CHECK(agrees(x * bias, {2, 3, 4}, 1, [&](auto b, auto s, auto d) { return double{el(x, b, s, d)} * el(bias, d); }) ==
        "");
  CHECK(agrees(bias - x, {2, 3, 4}, 1, [&](auto b, auto s, auto d) { return double{el(bias, d)} - el(x, b, s, d); }) ==
        "");
  CHECK(agrees(table * x, {2, 3, 4}, 1,
               [&](auto b, auto s, auto d) { return double{el(table, s, b)} * el(x, b, s, d); }) == "");
  const scattered far(x);
  CHECK(agrees(turned + far.view(), {4, 2, 3}, 1,
               [&](auto d, auto b, auto s) { return double{el(turned, d, b, s)} + el(x, b, s, d); }) == "");
  CHECK(agrees(far.view() * scattered(bias).view(), {2, 3, 4}, 1,
               [&](auto b, auto s, auto d) { return double{el(bias, d)} * el(x, b, s, d); }) == "");
}

TEST_CASE("elementwise: a chain is one expression, an expression is its own operand") {
  const auto x = drawn<tensor<float, seq, d_k>>(9, seq{3});
  const auto bias = drawn<tensor<float, d_k>>(10);
  const auto half = (x + bias) * 0.5F;
  CHECK(agrees(half * half - x, {3, 4}, 5, [&](auto s, auto d) {
    const double h = (double{el(x, s, d)} + el(bias, d)) * 0.5;
    return h * h - el(x, s, d);
  }) == "");
}

TEST_CASE("elementwise: float and double mix in double") {
  const auto x = drawn<tensor<float, seq>>(11, seq{4});
  const auto y = drawn<tensor<double, seq>>(12, seq{4});
  const tensor<double, seq> z = x * y;
  CHECK(differences(z, {4}, 0, [&](auto s) { return double{el(x, s)} * el(y, s); }) == "");
}

TEST_CASE("map: several operands, of different shapes") {
  const auto x = drawn<tensor<float, batch, seq, d_k>>(13, batch{2}, seq{3});
  const auto gain = drawn<tensor<float, d_k>>(14);
  const auto shift = drawn<tensor<float, seq, batch>>(15, batch{2}, seq{3});
  const auto f = [](auto a, auto g, auto t) { return a * g + t; };
  CHECK(agrees(map(f, x, gain, shift), {2, 3, 4}, 2,
               [&](auto b, auto s, auto d) { return double{el(x, b, s, d)} * el(gain, d) + el(shift, s, b); }) == "");
  CHECK(agrees(map(f, gain, x, shift), {2, 3, 4}, 2,
               [&](auto b, auto s, auto d) { return double{el(x, b, s, d)} * el(gain, d) + el(shift, s, b); }) == "");
}

TEST_CASE("map: results of another type than the operands") {
  const tensor<float, seq> x({0.3F, 0.7F, -0.4F, 0.0F, not_a_number}, seq{5});
  const tensor<bool, seq> large = map([](auto v) { return v > 0.5; }, x);
  CHECK(differences(large, {5}, 0, [](auto s) { return s == 1; }) == "");
  const tensor<bool, seq> other = map([](bool b) { return !b; }, large);
  CHECK(differences(other, {5}, 0, [](auto s) { return s != 1; }) == "");
  const tensor<float, seq> numbers = map([](bool b) { return b ? 0.25F : -1.0F; }, other);
  CHECK(differences(numbers, {5}, 0, [](auto s) { return s == 1 ? -1.0 : 0.25; }) == "");
  const tensor<bool, seq> agree = map([](auto v, bool b) { return (v > 0.5) == b; }, x, large);
  CHECK(differences(agree, {5}, 0, [](auto) { return true; }) == "");
  const tensor<long, seq> rounded =
      map([](auto v) { return static_cast<long>(v * 100); }, tensor<double, seq>({0.25, -1.75, 3.0}, seq{3}));
  CHECK(differences(rounded, {3}, 0, [](auto s) { return s == 0 ? 25 : s == 1 ? -175 : 300; }) == "");
  const tensor<float, seq> from_ids = map([](id<vocab> i) { return static_cast<float>(i.value) / 2; },
                                          tensor<id<vocab>, seq>({id<vocab>(3), id<vocab>(0)}, seq{2}));
  CHECK(differences(from_ids, {2}, 0, [](auto s) { return s == 0 ? 1.5 : 0.0; }) == "");
  const tensor<id<vocab>, seq> to_ids =
      map([](auto v) { return id<vocab>(v < 0 ? 1U : 2U); }, tensor<float, seq>({0.5F, -0.5F}, seq{2}));
  CHECK(differences(to_ids, {2}, 0, [](auto s) { return s == 0 ? 2 : 1; }) == "");
}

TEST_CASE("map: a function with a state of its own") {
  const auto x = drawn<tensor<float, seq>>(16, seq{4});
  const float threshold = 0.125F;
  CHECK(agrees(map([threshold](auto v) { return v > threshold ? v : decltype(v){}; }, x), {4}, 0,
               [&](auto s) { return el(x, s) > threshold ? el(x, s) : 0.0F; }) == "");
}

TEST_CASE("plain: the same values without marks") {
  const auto q = drawn<tensor<float, seq, d_k>>(17, seq{2});
  const auto k = drawn<tensor<float, key, d_k>>(18, key{3});
  const tensor<float, seq, key> raw = dimwise::plain(dimwise::contract<d_k>(q, k));
  CHECK(differences(raw, {2, 3}, float32(8), [&](auto i, auto j) {
    return sum_of(4, [&](auto d) { return double{el(q, i, d)} * el(k, j, d); });
  }) == "");
}

TEST_CASE("elementwise: map takes as many operands as are given") {
  const auto x = drawn<tensor<float, seq>>(1, seq{4});
  const auto sum = [](auto... v) { return (v + ...); };
  const auto times = [&](std::size_t n) {
    return [&x, n](auto i) { return static_cast<double>(n) * double{el(x, i)}; };
  };
  CHECK(agrees(map(sum, x, x, x, x), {4}, 8, times(4)) == "");
  CHECK(agrees(map(sum, x, x, x, x, x, x), {4}, 8, times(6)) == "");
  CHECK(agrees(map(sum, x, x, x, x, x, x, x, x), {4}, 8, times(8)) == "");
}
