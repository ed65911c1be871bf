// tests/eval/evaluate.test.cpp -- destinations: of float64, of another order, left as they were when something throws.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <concepts>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::id;
using dimwise::tensor;

}  // namespace

TEST_CASE("evaluate: deduces type, dimensions and marks") {
  const auto q = drawn<tensor<float, seq, d_k>>(1, seq{2});
  const auto k = drawn<tensor<float, key, d_k>>(2, key{3});
  const tensor p = dimwise::softmax<key>(dimwise::scores<d_k>(q, k));
  static_assert(std::same_as<decltype(p), const tensor<float, seq, key, dimwise::normalised<key>>>);
  static_assert(std::same_as<decltype(dimwise::evaluate(dimwise::argmax<key>(p))), tensor<id<key>, seq>>);
  static_assert(std::same_as<decltype(dimwise::reference(q + q)), tensor<double, seq, d_k>>);
  const tensor copy = p;
  static_assert(std::same_as<decltype(copy), decltype(p)>);
  CHECK(differences(copy, {2, 3}, 0, [&](auto i, auto j) { return el(p, i, j); }) == "");
}

TEST_CASE("evaluate: a destination of double computes in double, from operands of float on") {
  const auto x = drawn<tensor<float, seq, width>>(3, seq{2}, width{1000});
  const tensor<double, seq> y = dimwise::sum<width>(x * x + 1e-3F);
  // Float32 would err by 10^-5 here.
  CHECK(differences(y, {2}, float64, [&](auto s) {
    return sum_of(1000, [&](auto w) { return double{el(x, s, w)} * el(x, s, w) + double{1e-3F}; });
  }) == "");
  CHECK(differences(dimwise::reference(dimwise::sum<width>(x * x + 1e-3F)), {2}, 0, [&](auto s) { return el(y, s); }) ==
        "");
}

TEST_CASE("evaluate: a destination in another order, and one with other extents than before") {
  const auto x = drawn<tensor<float, batch, seq, d_k>>(4, batch{2}, seq{3});
  tensor<float, d_k, batch, seq> y(batch{7}, seq{7});
  y = x * 2;
  CHECK(differences(y, {4, 2, 3}, 0, [&](auto d, auto b, auto s) { return 2 * el(x, b, s, d); }) == "");
  y = dimwise::slice<seq>(y, 1, 1);
  CHECK(differences(y, {4, 2, 1}, 0, [&](auto d, auto b, auto) { return 2 * el(x, b, 1, d); }) == "");
  y = y + y;
  CHECK(differences(y, {4, 2, 1}, 0, [&](auto d, auto b, auto) { return 4 * el(x, b, 1, d); }) == "");
}

TEST_CASE("evaluate: what throws leaves the destination as it was, extents included") {
  const tensor<float, vocab, d_k> table(vocab{5});
  const tensor<id<vocab>, seq> ids({id<vocab>(0), id<vocab>(9)}, seq{2});
  auto y = drawn<tensor<float, seq, d_k>>(5, seq{3});
  const auto before = y;
  CHECK(thrown<dimwise::index_error>([&] { y = dimwise::gather<vocab>(table, ids); }) ==
        "gather: id 9 is outside dimension vocab of extent 5 (R18)");
  CHECK(thrown<dimwise::index_error>([&] {
    y = y * 0 + dimwise::slice<seq>(dimwise::gather<vocab>(table, dimwise::concat<seq>(ids, ids)), 0, 3);
  }) == "gather: id 9 is outside dimension vocab of extent 5 (R18)");
  const tensor<float, seq, key> s(seq{3}, key{4});
  const auto p = dimwise::softmax<key>(dimwise::masked(s, dimwise::padding<key>(5)));
  tensor<float, seq, key, dimwise::normalised<key>> weights(seq{1}, key{1});
  CHECK(thrown<dimwise::extent_error>([&] { weights = p; }) ==
        "padding: length 5 is outside dimension key of extent 4 (R7)");
  CHECK(weights.size() == 1);
  CHECK(differences(y, {3, 4}, 0, [&](auto i, auto d) { return el(before, i, d); }) == "");
}

TEST_CASE("evaluate: an expression used twice gives the same values twice") {
  const auto x = drawn<tensor<float, seq, d_model>>(6, seq{5});
  const auto e = dimwise::layer_norm<d_model>(dimwise::gelu(x));
  const tensor<float, seq, d_model> once = e;
  const tensor<float, seq, d_model> twice = e;
  CHECK(differences(twice, {5, 12}, 0, [&](auto s, auto m) { return el(once, s, m); }) == "");
  CHECK(differences(tensor<float, seq, d_model>(e - once), {5, 12}, 0, [](auto, auto) { return 0; }) == "");
}

TEST_CASE("evaluate: deep chains of looks and computations") {
  const auto x = drawn<tensor<float, batch, seq, dimwise::merged<heads, d_k>>>(7, batch{2}, seq{6});
  const auto parts = dimwise::split<heads, d_k>(x);
  const auto turned = dimwise::permute<d_k, seq, heads, batch>(dimwise::slice<seq>(parts, 1, 4));
  const auto joined = dimwise::concat<seq>(turned * 2, dimwise::slice<seq>(turned, 3, 1));
  const auto back = dimwise::merge<heads, d_k>(dimwise::rename<key, seq>(dimwise::rename<seq, key>(joined)));
  const auto total = dimwise::sum<batch>(back);
  CHECK(agrees(total, {5, 12}, 4, [&](auto s, auto m) {
    return sum_of(2, [&](auto b) { return s < 4 ? 2.0 * el(x, b, s + 1, m) : double{el(x, b, 4, m)}; });
  }) == "");
}

TEST_CASE("evaluate: a weight that is written between two evaluations counts as it is, however it was written") {
  const auto x = drawn<tensor<float, seq, width>>(8, seq{40}, width{70});
  auto w = drawn<tensor<float, width, vocab>>(9, width{70}, vocab{50});
  const auto right = [&] {
    return differences(
        tensor<float, seq, vocab>(dimwise::contract<width>(x, w)), {40, 50}, float32(140),
        [&](auto s, auto v) { return sum_of(70, [&](auto i) { return double{el(x, s, i)} * el(w, i, v); }); });
  };
  CHECK(right() == "");
  w.set(5, id<width>(3), id<vocab>(4));
  CHECK(right() == "");
  float* const memory = w.data();
  CHECK(right() == "");
  memory[100] = 7;
  CHECK(right() == "");
  w.seal();
  CHECK(right() == "");
  w.fill(0.5F);
  CHECK(right() == "");
  auto copy = w;
  copy.fill(-1);
  CHECK(right() == "");
  w = copy * 0.25F;
  CHECK(right() == "");
  dimwise::tensor_view<float, width, vocab> view(w);
  view(id<width>(69), id<vocab>(49)) = 9;
  CHECK(right() == "");
  w = drawn<tensor<float, width, vocab>>(10, width{70}, vocab{50});
  CHECK(right() == "");
}

TEST_CASE("plain_loops: while it lives, this thread takes the scalar path alone") {
  const auto q = drawn<tensor<float, seq, d_k>>(1, seq{20});
  const auto k = drawn<tensor<float, key, d_k>>(2, key{20});
  const auto s = dimwise::scores<d_k>(q, k);
  const auto products = [&] {
    dimwise::reset_plans();
    const tensor once = s;
    return dimwise::plans_run()[dimwise::plan_kind::product];
  };
  const std::size_t usual = products();
  CHECK(usual == (dimwise::kernels::available ? 1 : 0));
  {
    const dimwise::plain_loops only;
    CHECK(products() == 0);
    {
      const dimwise::plain_loops again;
      CHECK(products() == 0);
    }
    CHECK(products() == 0);
    const tensor under_it = s;
    const tensor scalar = dimwise::evaluate_plainly(s);
    CHECK(std::ranges::equal(under_it.values(), scalar.values()));
  }
  CHECK(products() == usual);
}
