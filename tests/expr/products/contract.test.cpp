// tests/expr/products/contract.test.cpp -- contract and outer against loops in double.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::along;
using dimwise::contract;
using dimwise::outer;
using dimwise::permute;
using dimwise::tensor;

constexpr counts extents = {0, 1, 2, 5};

}  // namespace

TEST_CASE("contract: a projection, every extent from 0 on") {
  for (const std::size_t b : extents) {
    for (const std::size_t s : extents) {
      const auto x = drawn<tensor<float, batch, seq, d_model>>(1, batch{b}, seq{s});
      const auto w = drawn<tensor<float, d_model, heads, d_k>>(2);
      // 12 products are summed, each sum and product rounded: 24 roundings.
      CHECK(agrees(contract<d_model>(x, w), {b, s, 3, 4}, 24, [&](auto i, auto p, auto h, auto d) {
        return sum_of(12, [&](auto m) { return double{el(x, i, p, m)} * el(w, m, h, d); });
      }) == "");
      CHECK(agrees(contract<d_model>(w, x), {3, 4, b, s}, 24, [&](auto h, auto d, auto i, auto p) {
        return sum_of(12, [&](auto m) { return double{el(x, i, p, m)} * el(w, m, h, d); });
      }) == "");
    }
  }
}

TEST_CASE("contract: a square weight of merged heads and features") {
  using joined = dimwise::merged<heads, d_k>;
  const auto x = drawn<tensor<float, seq, joined>>(1, seq{3});
  const auto w = drawn<tensor<float, joined, dimwise::out<joined>>>(2);
  CHECK(agrees(contract<joined>(x, w), {3, 12}, 24, [&](auto i, auto o) {
    return sum_of(12, [&](auto m) { return double{x.data()[i * 12 + m]} * w.data()[m * 12 + o]; });
  }) == "");
}

TEST_CASE("contract: run-time extents of the contracted dimension, 0 included") {
  for (const std::size_t n : counts{0, 1, 7, 8, 9, 31}) {
    const auto a = drawn<tensor<float, seq, width>>(3, seq{3}, width{n});
    const auto b = drawn<tensor<float, width, vocab>>(4, width{n}, vocab{5});
    const auto b_t = drawn<tensor<float, vocab, width>>(4, width{n}, vocab{5});
    const double roundings = 2 * static_cast<double>(n);  // a product and a sum each
    CHECK(agrees(contract<width>(a, b), {3, 5}, roundings, [&](auto s, auto v) {
      return sum_of(n, [&](auto w) { return double{el(a, s, w)} * el(b, w, v); });
    }) == "");
    CHECK(agrees(contract<width>(a, b_t), {3, 5}, roundings, [&](auto s, auto v) {
      return sum_of(n, [&](auto w) { return double{el(a, s, w)} * el(b_t, v, w); });
    }) == "");
  }
}

TEST_CASE("contract: shared parallel dimensions come first, in the order of the left operand") {
  const auto q = drawn<tensor<float, seq, batch, heads, d_k>>(5, batch{2}, seq{3});
  const auto k = drawn<tensor<float, heads, batch, key, d_k>>(6, batch{2}, key{5});
  const auto product = [&](auto b, auto h, auto s, auto t) {
    return sum_of(4, [&](auto d) { return double{el(q, s, b, h, d)} * el(k, h, b, t, d); });
  };
  CHECK(agrees(contract<d_k>(q, k), {2, 3, 3, 5}, 8, product) == "");
  CHECK(agrees(contract<d_k>(k, q), {3, 2, 5, 3}, 8,
               [&](auto h, auto b, auto t, auto s) { return product(b, h, s, t); }) == "");
}

TEST_CASE("contract: memory orders and strides of the operands change nothing") {
  const auto q = drawn<tensor<float, batch, seq, heads, d_k>>(7, batch{2}, seq{3});
  const auto k = drawn<tensor<float, batch, heads, key, d_k>>(8, batch{2}, key{5});
  const auto product = [&](auto b, auto h, auto s, auto t) {
    return sum_of(4, [&](auto d) { return double{el(q, b, s, h, d)} * el(k, b, h, t, d); });
  };
  const tensor<float, d_k, seq, heads, batch> q_permuted = q;
  const tensor<float, key, d_k, batch, heads> k_permuted = k;
  CHECK(agrees(contract<d_k>(q, k), {2, 3, 3, 5}, 8, product) == "");
  CHECK(agrees(permute<batch, heads, seq, key>(contract<d_k>(q_permuted, k)), {2, 3, 3, 5}, 8, product) == "");
  CHECK(agrees(contract<d_k>(q, k_permuted), {2, 3, 3, 5}, 8, product) == "");
  CHECK(agrees(permute<batch, heads, seq, key>(contract<d_k>(q_permuted, k_permuted)), {2, 3, 3, 5}, 8, product) == "");
  const scattered q_far(q);
  const scattered k_far(k_permuted);
  CHECK(agrees(contract<d_k>(q_far.view(), k), {2, 3, 3, 5}, 8, product) == "");
  CHECK(agrees(contract<d_k>(q_far.view(), k_far.view()), {2, 3, 3, 5}, 8, product) == "");
}

TEST_CASE("contract: several dimensions at once, in any order of naming") {
  const auto z = drawn<tensor<float, batch, seq, heads, d_v>>(9, batch{2}, seq{4});
  const auto w = drawn<tensor<float, d_v, d_model, heads>>(10);
  const auto expected = [&](auto b, auto s, auto m) {
    return sum_of(
        3, [&](auto h) { return sum_of(4, [&](auto d) { return double{el(z, b, s, h, d)} * el(w, d, m, h); }); });
  };
  CHECK(agrees(contract<heads, d_v>(z, w), {2, 4, 12}, 24, expected) == "");
  CHECK(agrees(contract<d_v, heads>(z, w), {2, 4, 12}, 24, expected) == "");
  CHECK(agrees(contract<heads, d_v>(scattered(z).view(), w), {2, 4, 12}, 24, expected) == "");
}

TEST_CASE("contract: everything, which leaves one number; and vectors") {
  for (const std::size_t n : extents) {
    const auto a = drawn<tensor<float, seq, width>>(11, seq{n}, width{3});
    const auto b = drawn<tensor<float, width, seq>>(12, seq{n}, width{3});
    const tensor<float> all = contract<seq, width>(a, b);
    REQUIRE(all.size() == 1);
    const double expected =
        sum_of(n, [&](auto s) { return sum_of(3, [&](auto w) { return double{el(a, s, w)} * el(b, w, s); }); });
    CHECK(within(*all.values().data(), expected, float32(30)));
    const auto v = drawn<tensor<float, width>>(13, width{3});
    CHECK(agrees(contract<width>(a, v), {n}, 6,
                 [&](auto s) { return sum_of(3, [&](auto w) { return double{el(a, s, w)} * el(v, w); }); }) == "");
    CHECK(agrees(contract<width>(v, b), {n}, 6,
                 [&](auto s) { return sum_of(3, [&](auto w) { return double{el(b, w, s)} * el(v, w); }); }) == "");
  }
}

TEST_CASE("contract: `along` takes shared dimensions that are not parallel side by side") {
  const auto p = drawn<tensor<float, seq, key, d_v>>(14, seq{3}, key{5});
  const auto v = drawn<tensor<float, d_v, seq, d_k>>(15, seq{3});
  CHECK(agrees(contract<d_v>(p, v, along<seq>{}), {3, 5, 4}, 8, [&](auto s, auto t, auto d) {
    return sum_of(4, [&](auto e) { return double{el(p, s, t, e)} * el(v, e, s, d); });
  }) == "");
  const auto r = drawn<tensor<float, key, seq, d_v>>(16, seq{3}, key{5});
  CHECK(agrees(contract<d_v>(p, r, along<seq, key>{}), {3, 5}, 8, [&](auto s, auto t) {
    return sum_of(4, [&](auto e) { return double{el(p, s, t, e)} * el(r, t, s, e); });
  }) == "");
}

TEST_CASE("contract: a square weight gives the dimension that it took") {
  const auto x = drawn<tensor<float, seq, d_model>>(17, seq{2});
  const auto w = drawn<tensor<float, dimwise::out<d_model>, d_model>>(18);
  const auto expected = [&](auto s, auto o) {
    return sum_of(12, [&](auto m) { return double{el(x, s, m)} * el(w, o, m); });
  };
  const tensor<float, seq, d_model> y = contract<d_model>(x, w);
  CHECK(differences(y, {2, 12}, float32(24), expected) == "");
  CHECK(agrees(contract<d_model>(w, x), {12, 2}, 24, [&](auto o, auto s) { return expected(s, o); }) == "");
}

TEST_CASE("outer: all products, shared parallel dimensions side by side") {
  const auto a = drawn<tensor<float, batch, seq>>(19, batch{2}, seq{3});
  const auto b = drawn<tensor<float, d_k, batch>>(20, batch{2});
  CHECK(agrees(outer(a, b), {2, 3, 4}, 1, [&](auto i, auto s, auto d) { return double{el(a, i, s)} * el(b, d, i); }) ==
        "");
  CHECK(agrees(outer(scattered(a).view(), scattered(b).view()), {2, 3, 4}, 1,
               [&](auto i, auto s, auto d) { return double{el(a, i, s)} * el(b, d, i); }) == "");
  const tensor<float, d_model> none;
  CHECK(agrees(outer(none, a), {12, 2, 3}, 0, [](auto, auto, auto) { return 0.0; }) == "");
}

TEST_CASE("contract: float and double mix in double") {
  const auto a = drawn<tensor<float, seq, width>>(21, seq{3}, width{50});
  const auto b = drawn<tensor<double, width>>(22, width{50});
  const tensor<double, seq> y = contract<width>(a, b);
  CHECK(differences(y, {3}, float64,
                    [&](auto s) { return sum_of(50, [&](auto w) { return double{el(a, s, w)} * el(b, w); }); }) == "");
}

TEST_CASE("contract: NaN and infinities count as in arithmetic, also beside zeros") {
  const tensor<float, seq, width> a({0, 1, 1, 0, 0, 0}, seq{3}, width{2});
  const tensor<float, width> b({infinite, 2}, width{2});
  const tensor<float, seq> y = contract<width>(a, b);
  CHECK(std::isnan(el(y, 0)));  // 0 · ∞
  CHECK(el(y, 1) == infinite);
  CHECK(std::isnan(el(y, 2)));
}
