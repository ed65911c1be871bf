// tests/eval/plan/static.test.cpp -- formulas whose extents the compiler knows: the same values as the scalar path, by
// kernels.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace dimwise_test;
using dimwise::causal;
using dimwise::contract;
using dimwise::masked;
using dimwise::permute;
using dimwise::plan_kind;
using dimwise::rename;
using dimwise::scores;
using dimwise::softmax;
using dimwise::tensor;
using dimwise::window;

struct seq : dimwise::position_dim<10> {};
struct key : dimwise::prime<seq> {};
struct source : dimwise::position_dim<7> {};
struct d_model : dimwise::feature_dim<24> {};
struct heads : dimwise::heads_dim<4> {};
struct d_k : dimwise::divided<d_model, heads> {};
struct d_v : dimwise::divided<d_model, heads> {};
struct pair : dimwise::batch_dim<2> {};

const auto x = drawn<tensor<float, seq, d_model>>(1);
const auto w_q = drawn<tensor<float, d_model, heads, d_k>>(2);
const auto w_k = drawn<tensor<float, d_model, heads, d_k>>(3);
const auto w_v = drawn<tensor<float, d_model, heads, d_v>>(4);
const auto w_o = drawn<tensor<float, heads, d_v, d_model>>(5);
const auto q = contract<d_model>(x, w_q);
const auto k = rename<seq, key>(contract<d_model>(x, w_k));
const auto v = rename<seq, key>(contract<d_model>(x, w_v));

// How far the kernels are from the scalar path, in units of 2^-24.
template <class Y, class E>
double roundings(const E& e) {
  const Y fast = e;
  const dimwise::plain_loops only;
  const Y scalar = e;
  double worst = 0;
  for (std::size_t i = 0; i < fast.size(); ++i) {
    const double wanted = scalar.values()[i];
    const double off = std::abs(static_cast<double>(fast.values()[i]) - wanted) / (1 + std::abs(wanted));
    worst = std::isnan(off) ? INFINITY : std::fmax(worst, off);
  }
  return worst * 16777216;
}

template <class F>
dimwise::plan_counts plans_of(F&& f) {
  dimwise::reset_plans();
  f();
  return dimwise::plans_run();
}

// Sums of 24 products of numbers below 1, scores of a few units in an exponent: some hundred roundings at most.
constexpr double few = 400;

}  // namespace

TEST_CASE("static: a product, its operands and its destination in any order") {
  CHECK(roundings<tensor<float, seq, heads, d_k>>(q) < few);
  CHECK(roundings<tensor<float, heads, seq, d_k>>(q) < few);
  CHECK(roundings<tensor<float, d_k, seq, heads>>(q) < few);
  CHECK(roundings<tensor<float, heads, d_k, seq>>(contract<d_model>(permute<heads, d_k, d_model>(w_q), x)) < few);
  CHECK(roundings<tensor<float, key, heads, d_k>>(k) < few);
  const auto batched = drawn<tensor<float, pair, seq, d_model>>(6);
  const auto of_each = drawn<tensor<float, pair, d_model, heads, d_k>>(7);
  CHECK(roundings<tensor<float, pair, seq, heads, d_k>>(contract<d_model>(batched, of_each)) < few);
  if (dimwise::kernels::available) {
    const auto ran = plans_of([] { const tensor<float, seq, heads, d_k> y = q; });
    CHECK(ran[plan_kind::product] == 1);
    CHECK(ran[plan_kind::plain] == 0);
  }
}

TEST_CASE("static: attention, full, causal and through a window, with its projections and without") {
  const auto full = contract<key>(softmax<key>(scores<d_k>(q, k)), v);
  const auto lower = contract<key>(softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{})), v);
  const auto near = contract<key>(v, softmax<key>(masked(scores<d_k>(k, q), window<seq, key>{2, 1})));
  CHECK(roundings<tensor<float, heads, seq, d_v>>(full) < few);
  CHECK(roundings<tensor<float, seq, heads, d_v>>(lower) < few);
  CHECK(roundings<tensor<float, seq, d_v, heads>>(near) < few);
  CHECK(roundings<tensor<float, seq, d_model>>(contract<heads, d_v>(full, w_o)) < 4 * few);
  CHECK(roundings<tensor<float, d_model, seq>>(contract<heads, d_v>(w_o, lower)) < 4 * few);
  if (dimwise::kernels::available) {
    const auto ran = plans_of([&] { const tensor<float, seq, d_model> y = contract<heads, d_v>(full, w_o); });
    CHECK(ran[plan_kind::attention] == 1);
    CHECK(ran[plan_kind::product] == 4);
    CHECK(ran[plan_kind::plain] == 0);
  }
}

TEST_CASE("static: keys of another sequence, one query") {
  struct token : dimwise::position_dim<1> {};
  const auto one = drawn<tensor<float, heads, token, d_k>>(8);
  const auto keys = drawn<tensor<float, source, heads, d_k>>(9);
  const auto values = drawn<tensor<float, source, heads, d_v>>(10);
  const auto seen = contract<source>(softmax<source>(scores<d_k>(one, keys)), values);
  CHECK(roundings<tensor<float, token, heads, d_v>>(seen) < few);
  if (dimwise::kernels::available) {
    CHECK(plans_of([&] { (void)dimwise::evaluate(seen); })[plan_kind::decode] == 1);
  }
}

TEST_CASE("static: what a mask hides has no effect, what it shows does") {
  auto poisoned = dimwise::evaluate(v);
  auto keys = dimwise::evaluate(k);
  for (std::size_t h = 0; h < 4; ++h) {
    for (std::size_t d = 0; d < 6; ++d) {
      keys.set(not_a_number, dimwise::id<key>(6), dimwise::id<heads>(h), dimwise::id<d_k>(d));
      poisoned.set(d == 0 ? infinite : not_a_number, dimwise::id<key>(6), dimwise::id<heads>(h), dimwise::id<d_v>(d));
    }
  }
  const tensor<float, seq, heads, d_v> y =
      contract<key>(softmax<key>(masked(scores<d_k>(q, keys), causal<seq, key>{})), poisoned);
  const tensor<float, seq, heads, d_v> clean =
      contract<key>(softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{})), v);
  for (std::size_t i = 0; i < y.size(); ++i) {
    CHECK(std::isnan(y.values()[i]) == (i >= 6 * 24));
    if (i < 6 * 24) { CHECK(std::abs(y.values()[i] - clean.values()[i]) < 1e-4F); }
  }
}

TEST_CASE("static: the destination may be an operand") {
  struct square : dimwise::feature_dim<24> {};
  tensor<float, seq, d_model> y = x;
  const auto w = drawn<tensor<float, d_model, square>>(11);
  const auto back = drawn<tensor<float, square, d_model>>(12);
  const tensor<float, seq, d_model> wanted = contract<square>(contract<d_model>(x, w), back);
  y = contract<square>(contract<d_model>(y, w), back);
  CHECK(differ(y, wanted) == "");
}
