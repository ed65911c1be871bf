// tests/eval/written/expr.test.cpp -- expr<T, shape<…>>: values, plans and explanations are those of the formula.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"
#include "support/threads.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::causal;
using dimwise::contract;
using dimwise::evaluate;
using dimwise::expr;
using dimwise::masked;
using dimwise::plan_kind;
using dimwise::scores;
using dimwise::shape;
using dimwise::softmax;
using dimwise::starting_at;
using dimwise::tensor;
using dimwise::tensor_view;

using rows_of = shape<seq, d_k>;

// A function over expressions that a header can declare.
expr<float, rows_of> doubled(const expr<float, rows_of>& x) { return x + x; }

template <class A, class B>
std::string same(const A& a, const B& b) {
  const tensor x = evaluate(a);
  const tensor y = evaluate(b);
  static_assert(std::is_same_v<decltype(x), decltype(y)>);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x.data()[i] != y.data()[i] && !(std::isnan(x.data()[i]) && std::isnan(y.data()[i]))) {
      return "element " + std::to_string(i) + ": " + std::to_string(x.data()[i]) + " and " +
             std::to_string(y.data()[i]);
    }
  }
  return "";
}

struct operands {
  tensor<float, heads, seq, d_k> q = drawn<tensor<float, heads, seq, d_k>>(1, seq{5});
  tensor<float, heads, key, d_k> k = drawn<tensor<float, heads, key, d_k>>(2, key{5});
  tensor<float, heads, key, d_v> v = drawn<tensor<float, heads, key, d_v>>(3, key{5});
};

TEST_CASE("an expr is constructed from tensors, views and expressions, and is an operand") {
  const auto x = drawn<tensor<float, seq, d_k>>(1, seq{5});
  const expr<float, rows_of> of_tensor = x;
  const tensor_view<const float, seq, d_k> view(x);
  const expr<float, rows_of> of_view = view;
  const expr h = x * 2.0F;
  static_assert(std::is_same_v<decltype(h), const expr<float, rows_of>>);
  static_assert(dimwise::expression<expr<float, rows_of>>);
  CHECK(same(of_tensor, x) == "");
  CHECK(same(of_view, x) == "");
  CHECK(same(h, doubled(x)) == "");
  CHECK(same(h + of_view, x * 2.0F + x) == "");
  CHECK(dimwise::extent_of<seq>(h) == 5);
  CHECK(dimwise::size_of(h) == 20);
  CHECK(dimwise::describe(h) == "seq[5] d_k[4]");
  const float total = dimwise::sum<seq, d_k>(expr(x));
  CHECK(total == float{evaluate(dimwise::sum<seq, d_k>(x))});
  const expr<float, shape<>> number = dimwise::sum<seq, d_k>(x);
  CHECK(float{number} == total);
}

TEST_CASE("an expr does not dangle, and a copy keeps its formula") {
  const auto make = [] {
    const tensor<float, seq, d_k> local = drawn<tensor<float, seq, d_k>>(1, seq{5});
    return expr<float, rows_of>(local + local);
  };
  expr<float, rows_of> h = make();
  const expr<float, rows_of> before = h;
  h = h * 2.0F;
  const auto& itself = h;
  h = itself;
  CHECK(same(h, before + before) == "");
  expr<float, rows_of> moved = std::move(h);
  CHECK(same(moved, h) == "");
  std::vector<expr<float, rows_of>> all(3);
  CHECK(evaluate(all[0]).size() == 0);
  all[1] = before;
  all.insert(all.begin(), moved);
  all.erase(all.begin() + 1);
  CHECK(same(all[1], before) == "");
}

TEST_CASE("dimensions may come in another order; elements may be wider; an element of a dimension is no longer one") {
  const auto x = drawn<tensor<float, batch, seq, d_k>>(1, batch{2}, seq{5});
  const expr<float, shape<d_k, seq, batch>> turned = x + x;
  CHECK(same(dimwise::permute<batch, seq, d_k>(turned), x + x) == "");
  const tensor<float, batch, seq, d_k> back = turned;
  CHECK(same(back, x + x) == "");
  const expr<double, shape<batch, seq, d_k>> wide = dimwise::exp(x);
  const tensor<double, batch, seq, d_k> expected = dimwise::exp(x);
  CHECK(same(wide, expected) == "");
  const expr<float, shape<batch, d_k>> one = dimwise::at<seq>(x, 3);
  CHECK(same(one + dimwise::sum<seq>(x), evaluate(dimwise::at<seq>(x, 3)) + dimwise::sum<seq>(x)) == "");
}

TEST_CASE("other element types: truth, ids, integers") {
  const auto x = drawn<tensor<double, seq, d_k>>(1, seq{5});
  const tensor<double, seq, d_k> above = x + 1e-12;
  const expr<bool, rows_of> larger = above > x;  // compared in double
  const tensor<bool, seq, d_k> all = larger;
  for (std::size_t i = 0; i < all.size(); ++i) { CHECK(all.data()[i]); }
  CHECK(same(dimwise::where(larger, x, 0.0), x) == "");
  const auto few = drawn<tensor<float, seq, d_k>>(4, seq{5});
  CHECK(same(dimwise::where(expr(x) > 0.25, few, 0.0F), dimwise::where(x > 0.25, few, 0.0F)) == "");
  const auto table = drawn<tensor<float, vocab, d_k>>(2, vocab{6});
  const auto ids = drawn_ids<tensor<dimwise::id<vocab>, seq>>(3, 6, seq{4});
  const expr<dimwise::id<vocab>, shape<seq>> words = ids;
  CHECK(same(dimwise::gather<vocab>(expr(table), words), dimwise::gather<vocab>(table, ids)) == "");
  const tensor<int, seq> n({1, 2, 3}, seq{3});
  const expr<int, shape<seq>> whole = n + n;
  const tensor sums = whole;
  CHECK(sums.data()[2] == 6);
}

TEST_CASE("attention with scores, weights or operands behind an expr") {
  const operands x;
  const auto s = masked(scores<d_k>(x.q, x.k), causal<seq, key>{});
  const auto fused = contract<key>(softmax<key>(s), x.v);
  const expr of_scores = s;
  const expr of_weights = softmax<key>(of_scores);
  const expr whole = fused;
  const auto near = [&](const auto& y) {
    const tensor a = evaluate(y);
    const tensor b = evaluate(fused);
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      worst = std::max(worst, std::abs(double{a.data()[i]} - double{b.data()[i]}));
    }
    return worst < float32(40);
  };
  CHECK(same(whole, fused) == "");
  CHECK(near(contract<key>(softmax<key>(of_scores), x.v)));
  CHECK(near(contract<key>(of_weights, x.v)));
  CHECK(near(contract<key>(softmax<key>(masked(scores<d_k>(expr(x.q), expr(x.k)), causal<seq, key>{})), expr(x.v))));
  CHECK(dimwise::plan(whole)[plan_kind::attention] == dimwise::plan(fused)[plan_kind::attention]);
  CHECK(dimwise::plan(whole).text() == dimwise::plan(fused).text());
}

TEST_CASE("what a mask hides has no effect across an expr, even NaN") {
  operands x;
  const auto s = masked(scores<d_k>(x.q, x.k), causal<seq, key>{});
  const tensor expected = contract<key>(softmax<key>(s), x.v);
  tensor<float, heads, key, d_v> odd = x.v;
  for (std::size_t h = 0; h < 3; ++h) {
    for (std::size_t i = 0; i < 4; ++i) {
      odd.set(not_a_number, dimwise::id<heads>(h), dimwise::id<key>(4), dimwise::id<d_v>(i));
    }
  }
  const expr of_scores = s;
  const expr of_weights = softmax<key>(s);
  const expr again = of_weights;
  const auto visible_is_finite = [&](const auto& formula) {
    for (const bool by_loops : {false, true}) {
      const tensor y = by_loops ? dimwise::evaluate_plainly(formula) : evaluate(formula);
      for (std::size_t h = 0; h < 3; ++h) {
        for (std::size_t q = 0; q < 5; ++q) {
          for (std::size_t i = 0; i < 4; ++i) {
            if (q < 4 && !(std::abs(el(y, h, q, i) - el(expected, h, q, i)) < float32(40))) { return false; }
            if (q == 4 && !std::isnan(el(y, h, q, i))) { return false; }
          }
        }
      }
    }
    return true;
  };
  CHECK(visible_is_finite(contract<key>(softmax<key>(of_scores), odd)));
  CHECK(visible_is_finite(contract<key>(of_weights, odd)));
  CHECK(visible_is_finite(contract<key>(again, odd)));
  CHECK(visible_is_finite(contract<key>(dimwise::permute<key, heads, seq>(of_weights), odd)));
  CHECK(visible_is_finite(dimwise::permute<heads, seq, d_v>(contract<key>(odd, of_weights))));
  // Used twice, so it is kept: once as weights, once as numbers, whose zeros are positive.
  const auto inverse = 1.0F / of_weights;
  const tensor<float, heads, seq, key> kept = evaluate(dimwise::plain(inverse));
  CHECK(el(kept, 0, 0, 4) == infinite);
  const auto both = contract<key>(of_weights, odd) +
                    dimwise::broadcast_like(contract<key>(of_weights, x.v) * 0.0F, contract<key>(of_weights, odd));
  CHECK(visible_is_finite(both));
  // −0 that no softmax has written is a number.
  const tensor<float, heads, seq, key> zeros = dimwise::plain(evaluate(softmax<key>(s))) * -0.0F;
  const tensor all = evaluate(contract<key>(expr(dimwise::plain(zeros)), odd));
  CHECK(std::isnan(el(all, 0, 0, 0)));
}

TEST_CASE("reference and plain_loops reach the inside") {
  const auto x = drawn<tensor<float, seq, d_k>>(1, seq{64});
  const expr inside = dimwise::exp(x) / 3.0F;
  const expr outside = inside + x;
  const tensor exact = dimwise::reference(outside);
  static_assert(std::is_same_v<decltype(exact), const tensor<double, seq, d_k>>);
  double worst = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double in = x.data()[i];
    worst = std::max(worst, std::abs(exact.data()[i] - (std::exp(in) / 3.0 + in)));
  }
  CHECK(worst < 1e-15);
  dimwise::reset_plans();
  (void)dimwise::evaluate_plainly(outside);
  CHECK(dimwise::plans_run()[plan_kind::map] == 0);
  CHECK(dimwise::plans_run()[plan_kind::plain] > 0);
}

TEST_CASE("a formula that is used several times is computed once") {
  const auto x = drawn<tensor<float, seq, d_k>>(1, seq{5});
  std::size_t calls = 0;
  const expr counted = dimwise::map([&calls](float a) {
    ++calls;
    return a;
  }, x);
  (void)evaluate(counted + counted * counted);
  CHECK(calls == 20);
  (void)evaluate(contract<d_k>(counted, dimwise::rename<seq, key>(counted)));
  CHECK(calls == 40);
  (void)evaluate(counted);
  CHECK(calls == 60);
  expr<float, rows_of> h = counted;
  for (std::size_t i = 0; i < 60; ++i) { h = (h + h) * 0.5F; }  // 2^60 uses
  CHECK(same(h, x) == "");
  CHECK(calls == 80);
  CHECK(dimwise::plan(h).steps().size() < 200);
}

TEST_CASE("long chains: formed, evaluated, planned and destroyed without recursion") {
  const auto x = drawn<tensor<float, seq, d_k>>(1, seq{2});
  expr<float, rows_of> h = x;
  constexpr std::size_t steps = 100000;
  for (std::size_t i = 0; i < steps; ++i) { h = h + 1.0F; }
  const tensor y = h;
  CHECK(std::abs(y.data()[0] - (x.data()[0] + 100000.0F)) < 1.0F);
  CHECK(dimwise::plan(h).steps().size() >= steps);
  std::vector<expr<float, rows_of>> earlier(10, h);
  h = x;
}

TEST_CASE("errors at run time are those of the formula") {
  const auto x = drawn<tensor<float, seq, d_k>>(1, seq{5});
  const auto y = drawn<tensor<float, seq, d_k>>(1, seq{4});
  CHECK(thrown<dimwise::extent_error>([&] { (void)(expr(x) + expr(y)); }) ==
        thrown<dimwise::extent_error>([&] { (void)(x + y); }));
  const auto table = drawn<tensor<float, vocab, d_k>>(2, vocab{2});
  const tensor<dimwise::id<vocab>, seq> ids({dimwise::id<vocab>(7)}, seq{1});
  const expr<float, rows_of> outside = dimwise::gather<vocab>(table, ids);
  CHECK(thrown<dimwise::index_error>([&] { (void)evaluate(outside + outside); }) != "");
  (void)evaluate(expr(x) + expr(x));  // nothing is left of the failed evaluation
}

TEST_CASE("threads share a formula" * support::threads) {
  const auto x = drawn<tensor<float, seq, d_k>>(1, seq{5});
  const expr h = x + x;
  std::vector<std::thread> all;
  std::vector<int> right(4);
  for (std::size_t i = 0; i < 4; ++i) {
    all.emplace_back([&, i] {
      for (int j = 0; j < 100; ++j) {
        expr mine = h;
        for (int k = 0; k < 3; ++k) { mine = mine + h; }
        right[i] += same(mine, (x + x) * 4.0F) == "" ? 1 : 0;
      }
    });
  }
  for (std::thread& t : all) { t.join(); }
  for (const int n : right) { CHECK(n == 100); }
}

TEST_CASE("explain says the steps behind an expr, each once") {
  const operands x;
  const auto s = masked(scores<d_k>(x.q, x.k), causal<seq, key>{});
  const expr of_scores = s;
  const expr whole = contract<key>(softmax<key>(of_scores), x.v);
  const auto plain = contract<key>(softmax<key>(s), x.v);
  CHECK(dimwise::explain(whole).derivation().steps().size() == dimwise::explain(plain).derivation().steps().size());
  CHECK(dimwise::explain(whole).multiply_adds() == dimwise::explain(plain).multiply_adds());
  const expr twice = of_scores;
  CHECK(dimwise::explain(twice + twice).derivation().steps().size() ==
        dimwise::explain(s).derivation().steps().size() + 1);
}

}  // namespace
