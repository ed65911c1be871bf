// tests/eval/plan/operations.test.cpp -- functions, reductions, choices, comparisons, masks, learned temperatures,
// differences of attentions, retention: that no plain loop runs, and what runs, against the formula in float64.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace words_plan {
namespace {

using namespace dimwise;
using dimwise_test::counts;
using dimwise_test::drawn;
using dimwise_test::scattered;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct heads : heads_dim<> {};
struct group_of : heads_dim<> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};
struct d_model : feature_dim<> {};

// What differs from float64 by more than `roundings` of 2^-24, what ran otherwise than plan(e) said, and what was not
// run `count` times by `expected`; and any plain loop.
template <class E>
std::string wrong(const E& e, plan_kind expected, std::size_t count, double roundings) {
  reset_plans();
  const auto fast = evaluate(e);
  const plan_counts ran = plans_run();
  const auto exact = reference(e);
  for (std::size_t i = 0; i < fast.size(); ++i) {
    const double want = exact.values()[i];
    const double got = fast.values()[i];
    if (!(std::abs(got - want) <= roundings * 0x1p-24 * (1 + std::abs(want))) &&
        !(std::isnan(want) && std::isnan(got)) && got != want) {
      return "element " + std::to_string(i) + ": " + std::to_string(got) + ", exactly " + std::to_string(want);
    }
  }
  if (!kernels::available) { return {}; }
  const evaluation_plan said = plan(e);
  for (const plan_kind k : {plan_kind::plain, plan_kind::rows, plan_kind::map, plan_kind::product, plan_kind::attention,
                            plan_kind::decode}) {
    if (said[k] != ran[k]) {
      return std::string(name_of(k)) + " ran " + std::to_string(ran[k]) + " times, but\n" + said.text();
    }
  }
  if (ran[plan_kind::plain] != 0) { return "the scalar path ran:\n" + said.text(); }
  if (ran[expected] != count) {
    return std::string(name_of(expected)) + " ran " + std::to_string(ran[expected]) + " times:\n" + said.text();
  }
  return {};
}
#define HOLDS(...) CHECK(std::string(__VA_ARGS__) == "")

double of_attention(std::size_t features, std::size_t keys) {
  return 40 + 8 * static_cast<double>(features) + 2 * static_cast<double>(keys);
}

// Three workers, the last part of the work first.
struct backwards {
  [[nodiscard]] static std::size_t worker_count() { return 3; }
  template <class F>
  static void parallel_for(std::size_t count, F&& f) {
    for (std::size_t i = count; i-- > 0;) { f(i, i % 3); }
  }
};

TEST_CASE("words: the bits do not depend on the executor") {
  const auto x = drawn<tensor<float, batch, seq, d_k>>(40, batch{3}, seq{70}, d_k{900});
  const auto row = drawn<tensor<float, d_k>>(41, d_k{900});
  backwards executor;
  const auto same = [&](const auto& e) { return dimwise_test::differ(evaluate(e), evaluate(e, executor)); };
  HOLDS(same(sum<d_k>(x)));
  HOLDS(same(mean<batch, seq>(x)));
  HOLDS(same(mean<seq>(x)));
  HOLDS(same(min<seq, d_k>(x)));
  HOLDS(same(clamp(x, -0.5F, row)));
  HOLDS(same(where(x > row, x, row)));
  HOLDS(same(sin(x)));
}

TEST_CASE("words: functions of contiguous elements") {
  for (const std::size_t n : counts{16, 17, 31, 64, 100}) {
    const auto x = drawn<tensor<float, batch, seq>>(1, batch{3}, seq{n});
    HOLDS(wrong(sqrt(x), plan_kind::map, 1, 1));
    HOLDS(wrong(square(x), plan_kind::map, 1, 1));
    HOLDS(wrong(pow(x, 2), plan_kind::map, 1, 1));
    HOLDS(wrong(abs(x), plan_kind::map, 1, 0));
    HOLDS(wrong(-x, plan_kind::map, 1, 0));
    HOLDS(wrong(log(abs(x)), plan_kind::map, 2, 4));
    HOLDS(wrong(erf(x), plan_kind::map, 1, 4));
    HOLDS(wrong(softplus(x), plan_kind::map, 1, 4));
    HOLDS(wrong(sin(x), plan_kind::map, 1, 4));
    HOLDS(wrong(cos(x), plan_kind::map, 1, 4));
    HOLDS(wrong(sin(100.0F * x), plan_kind::map, 2, 400));  // the argument is rounded before
    HOLDS(wrong(max(x, 0), plan_kind::map, 1, 0));
    HOLDS(wrong(min(x, x * 0.5F), plan_kind::map, 2, 1));
    HOLDS(wrong(clamp(x, -0.25F, 0.5F), plan_kind::map, 1, 0));
    HOLDS(wrong(where(x > 0, x, 0.01F * x), plan_kind::map, 3, 1));
    HOLDS(wrong(where(x <= 0.5F, 1, x), plan_kind::map, 2, 0));
  }
  // Special values: infinities, NaN, −0, and angles that are reduced elsewhere.
  struct many : position_dim<16> {};
  constexpr float inf = dimwise_test::infinite;
  const tensor<float, many> odd({0.0F, -0.0F, inf, -inf, dimwise_test::not_a_number, 1e30F, -1e30F, 8192.0F, 8193.0F,
                                 -8191.5F, 1e-40F, 4.0F, 3.1415927F, -1.5707964F, 100.0F, -3.0F});
  const auto same = [](const auto& e) {
    const auto fast = evaluate(e);
    const auto scalar = evaluate_plainly(e);
    for (std::size_t i = 0; i < fast.size(); ++i) {
      const float a = fast.values()[i];
      const float b = scalar.values()[i];
      if (std::isnan(a) != std::isnan(b) ||
          (!std::isnan(a) && (std::abs(a - b) > 2e-7F * (1e-3F + std::abs(b)) || std::signbit(a) != std::signbit(b)) &&
           a != b)) {
        return "element " + std::to_string(i) + ": " + std::to_string(a) + ", by the scalar path " + std::to_string(b);
      }
      if (a == 0 && std::signbit(a) != std::signbit(b)) { return "the sign of element " + std::to_string(i); }
    }
    return std::string();
  };
  HOLDS(same(sqrt(odd)));
  HOLDS(same(square(odd)));
  HOLDS(same(abs(odd)));
  HOLDS(same(-odd));
  HOLDS(same(sin(odd)));
  HOLDS(same(cos(odd)));
  HOLDS(same(log(odd)));
  HOLDS(same(erf(odd)));
  HOLDS(same(softplus(odd)));
  HOLDS(same(max(odd, 0)));
  HOLDS(same(min(0, odd)));
  HOLDS(same(max(odd, -odd)));
  HOLDS(same(min(odd, -odd)));
  HOLDS(same(clamp(odd, -2, 2)));
  HOLDS(same(where(odd < 0, odd, 0)));
  HOLDS(same(where(odd != odd, 0, odd)));
  HOLDS(same(where(odd == 0, 0.0F, odd)));
  HOLDS(same(where(odd >= 4, -odd, odd)));
}

TEST_CASE("words: reductions over the last, a middle, the first and several dimensions") {
  for (const std::size_t s : counts{1, 16, 17, 40}) {
    for (const std::size_t d : counts{16, 31, 64, 130}) {
      const auto x = drawn<tensor<float, batch, seq, d_k>>(2, batch{3}, seq{s}, d_k{d});
      const auto n = static_cast<double>(3 * s * d);
      HOLDS(wrong(sum<d_k>(x), plan_kind::rows, 1, n));
      HOLDS(wrong(mean<d_k>(x), plan_kind::rows, 1, n));
      HOLDS(wrong(max<d_k>(x), plan_kind::rows, 1, 0));
      HOLDS(wrong(min<d_k>(x), plan_kind::rows, 1, 0));
      HOLDS(wrong(sum<seq>(x), plan_kind::rows, 1, n));
      HOLDS(wrong(mean<seq>(x), plan_kind::rows, 1, n));
      HOLDS(wrong(max<seq>(x), plan_kind::rows, 1, 0));
      HOLDS(wrong(min<batch>(x), plan_kind::rows, 1, 0));
      HOLDS(wrong(sum<batch, seq>(x), plan_kind::rows, 1, n));
      HOLDS(wrong(mean<batch, d_k>(x), plan_kind::rows, 1, n));
      HOLDS(wrong(max<batch, d_k>(x), plan_kind::rows, 1, 0));
      HOLDS(wrong(min<seq, batch>(x), plan_kind::rows, 1, 0));
      HOLDS(wrong(mean<batch, seq, d_k>(x), plan_kind::rows, 1, n));
      HOLDS(wrong(sum<seq>(slice<d_k>(x, 0, 16)), plan_kind::rows, 1, n));
      HOLDS(wrong(sum<seq>(square(x)), plan_kind::rows, 1, n));
    }
  }
  // NaN counts wherever it is; the scalar path agrees.
  auto x = drawn<tensor<float, seq, d_k>>(3, seq{20}, d_k{70});
  for (const std::size_t at : counts{0, 15, 16, 69, 70 * 19 + 68}) {
    tensor<float, seq, d_k> y = x;
    y.data()[at] = dimwise_test::not_a_number;
    HOLDS(wrong(max<d_k>(y), plan_kind::rows, 1, 0));
    HOLDS(wrong(min<d_k>(y), plan_kind::rows, 1, 0));
    HOLDS(wrong(max<seq>(y), plan_kind::rows, 1, 0));
    HOLDS(wrong(min<seq>(y), plan_kind::rows, 1, 0));
    HOLDS(wrong(min<seq, d_k>(y), plan_kind::rows, 1, 0));
    HOLDS(wrong(sum<seq>(y), plan_kind::rows, 1, 200));
  }
  // Nothing to reduce, few elements, elements far apart: the scalar path.
  CHECK(evaluate(sum<seq>(tensor<float, seq, d_k>(seq{0}, d_k{20})))(dimwise::id<d_k>{19}) == 0);
  CHECK(evaluate(mean<seq>(tensor<float, seq, d_k>(seq{0}, d_k{20})))(dimwise::id<d_k>{19}) == 0);
  CHECK(evaluate(max<seq>(tensor<float, seq, d_k>(seq{0}, d_k{20})))(dimwise::id<d_k>{19}) == -dimwise_test::infinite);
  const scattered apart(x);
  CHECK(dimwise_test::differ(evaluate(sum<seq>(apart.view())), evaluate_plainly(sum<seq>(x))) == "");
}

TEST_CASE("words: masks, biases and choices of whole rows") {
  for (const std::size_t n : counts{16, 33, 64}) {
    const auto s = drawn<tensor<float, batch, heads, seq, key>>(4, batch{2}, heads{3}, seq{n}, key{n});
    const auto m = drawn<tensor<bool, key, seq>>(5, seq{n}, key{n});
    const auto own = drawn<tensor<bool, batch, key>>(6, batch{2}, key{n});
    const auto bias = drawn<tensor<float, heads, seq, key>>(7, heads{3}, seq{n}, key{n});
    const auto of_key = drawn<tensor<float, key>>(8, key{n});
    HOLDS(wrong(softmax<key>(masked(s, causal<seq, key>{})), plan_kind::map, 1, 60));
    HOLDS(wrong(softmax<key>(masked(s, allow(m) & allow(own))), plan_kind::map, 1, 60));
    HOLDS(wrong(softmax<key>(masked(biased(s, bias), !allow(m))), plan_kind::map, 2, 60));
    HOLDS(wrong(softmax<key>(biased(masked(s, causal<seq, key>{}), bias)), plan_kind::map, 2, 60));
    HOLDS(wrong(softmax<key>(masked(s, causal<seq, key>{}) + of_key), plan_kind::map, 2, 60));
    HOLDS(wrong(softmax<key>(2.0F * masked(s, allow(m))), plan_kind::map, 2, 60));
    HOLDS(wrong(where(causal<seq, key>{}, s, 0), plan_kind::map, 1, 0));
    HOLDS(wrong(where(m, s, of_key), plan_kind::map, 1, 0));
  }
}

TEST_CASE("words: a learned temperature for each head goes into fused attention") {
  for (const std::size_t queries : counts{1, 3, 16, 33}) {
    const batch b{2};
    const heads h{3};
    const key j{queries + 17};
    const d_k f{24};
    const auto q = drawn<tensor<float, batch, heads, seq, d_k>>(9, b, h, seq{queries}, f);
    const auto turned = drawn<tensor<float, batch, seq, d_k, heads>>(10, b, seq{queries}, f, h);
    const auto k = drawn<tensor<float, batch, key, heads, d_k>>(11, b, j, h, f);
    const auto v = drawn<tensor<float, batch, heads, key, d_v>>(12, b, h, j, d_v{20});
    const auto per_head = drawn<tensor<float, heads>>(13, h);
    const auto per_both = drawn<tensor<float, heads, batch>>(14, b, h);
    const auto per_query = drawn<tensor<float, seq, heads>>(15, seq{queries}, h);
    const tensor<float> one({0.7F});
    const tensor past_two = per_head + 2.0F;
    const tensor raised = exp(per_head);
    const tensor fourfold = 4.0F * per_both;
    const auto m = drawn<tensor<bool, seq, key>>(16, seq{queries}, j);
    const tensor<float, heads, seq, key> bias = drawn<tensor<float, heads, seq, key>>(17, h, seq{queries}, j);
    const plan_kind how = queries <= 4 ? plan_kind::decode : plan_kind::attention;
    const double room = of_attention(24, j.extent());
    const auto raw = contract<d_k>(q, k);
    const auto s = scores<d_k>(q, k);
    HOLDS(wrong(contract<key>(softmax<key>(scaled(raw, per_head)), v), how, 1, room));
    HOLDS(wrong(contract<key>(softmax<key>(scaled(raw, per_both)), v), how, 1, room));
    HOLDS(wrong(contract<key>(softmax<key>(scaled(raw, one)), v), how, 1, room));
    HOLDS(wrong(contract<key>(v, softmax<key>(scaled(contract<d_k>(k, turned), per_head))), how, 1, room));
    HOLDS(wrong(contract<key>(softmax<key>(s * per_query), v), how, 1, room));
    HOLDS(wrong(contract<key>(softmax<key>(0.5F * (per_head * s)), v), how, 1, room));
    HOLDS(wrong(contract<key>(softmax<key>(tanh(s * per_head / 5.0F) * 5.0F), v), how, 1, 2 * room));
    HOLDS(wrong(contract<key>(softmax<key>(s / past_two), v), how, 1, room));
    HOLDS(wrong(contract<key>(softmax<key>(masked(biased(s * raised, bias), allow(m))), v), how, 1, 2 * room));
    HOLDS(wrong(
        contract<key>(softmax<key>(biased(scaled(raw, fourfold),
                                          alibi<seq, key, heads>{starting_at(seq{queries}, 17), key{queries + 17}})),
                      v),
        how, 1, 4 * room));
    HOLDS(wrong(contract<key>(softmax<key>(5.0F * tanh(s * per_head / 5.0F)), v), how, 1, 2 * room));
    // A temperature for each key is none of the queries: products and rows.
    const auto per_key = drawn<tensor<float, key>>(18, j);
    HOLDS(wrong(contract<key>(softmax<key>(scaled(raw, per_key)), v), how, 0, room));
  }
  // Heads in groups that share keys; a temperature for each query head.
  const heads h{2};
  const group_of g{3};
  const auto q = drawn<tensor<float, seq, heads, group_of, d_k>>(19, seq{20}, h, g, d_k{16});
  const auto k = drawn<tensor<float, key, heads, d_k>>(20, h, key{33}, d_k{16});
  const auto v = drawn<tensor<float, key, heads, d_v>>(21, h, key{33}, d_v{16});
  const auto t = drawn<tensor<float, heads, group_of>>(22, h, g);
  const auto u = drawn<tensor<float, group_of>>(23, g);
  HOLDS(wrong(contract<key>(softmax<key>(scaled(contract<d_k>(q, k), t)), v), plan_kind::attention, 1,
              of_attention(16, 33)));
  HOLDS(wrong(contract<key>(softmax<key>(scaled(contract<d_k>(q, k), u)), v), plan_kind::attention, 1,
              of_attention(16, 33)));
  // Scales of zero, NaN, infinities and extreme magnitudes are applied as written.
  for (const float odd :
       {0.0F, -1.0F, 1e-42F, dimwise_test::infinite, -dimwise_test::infinite, dimwise_test::not_a_number, 1e38F}) {
    tensor<float, group_of> w = u;
    w.data()[1] = odd;
    const auto e = contract<key>(softmax<key>(scaled(contract<d_k>(q, k), w)), v);
    const auto f = contract<key>(
        softmax<key>(masked(scores<d_k>(q, k), allow(drawn<tensor<bool, seq, key>>(24, seq{20}, key{33}))) * w), v);
    CHECK(dimwise_test::differ(evaluate(e), evaluate_plainly(e), dimwise_test::float32(1000)) == "");
    CHECK(dimwise_test::differ(evaluate(f), evaluate_plainly(f), dimwise_test::float32(1000)) == "");
  }
  // Nothing there.
  const tensor<float, seq, heads, group_of, d_k> none(seq{0}, h, g, d_k{16});
  CHECK(evaluate(contract<key>(softmax<key>(scaled(contract<d_k>(none, k), t)), v)).size() == 0);
}

TEST_CASE("words: a difference of two attentions, retention, weights averaged over heads") {
  const batch b{2};
  const heads h{3};
  const seq n{33};
  const key j{33};
  const auto q1 = drawn<tensor<float, batch, heads, seq, d_k>>(24, b, h, n, d_k{24});
  const auto q2 = drawn<tensor<float, batch, heads, seq, d_k>>(25, b, h, n, d_k{24});
  const auto k1 = drawn<tensor<float, batch, heads, key, d_k>>(26, b, h, j, d_k{24});
  const auto k2 = drawn<tensor<float, batch, heads, key, d_k>>(27, b, h, j, d_k{24});
  const auto v = drawn<tensor<float, batch, heads, key, d_v>>(28, b, h, j, d_v{20});
  const auto lambda = drawn<tensor<float, heads>>(29, h);
  const double room = of_attention(24, 33);
  const auto c = causal<seq, key>{};
  const auto a1 = softmax<key>(masked(scores<d_k>(q1, k1), c));
  const auto a2 = softmax<key>(masked(scores<d_k>(q2, k2), c));
  HOLDS(wrong(contract<key>(a1, v) - 0.3F * contract<key>(a2, v), plan_kind::attention, 2, 2 * room));
  HOLDS(wrong(contract<key>(a1, v) - lambda * contract<key>(a2, v), plan_kind::attention, 2, 2 * room));
  HOLDS(wrong(contract<key>(a1 - lambda * a2, v), plan_kind::product, 3, 2 * room));
  HOLDS(wrong(contract<key>(softmax<key>(scores<d_k>(q1, k1)) - 0.3F * softmax<key>(scores<d_k>(q2, k2)), v),
              plan_kind::product, 3, 2 * room));
  // Retention: products and decay, no softmax.
  const auto decay = drawn<tensor<float, heads, seq, key>>(30, h, n, j);
  HOLDS(wrong(contract<key>(plain(contract<d_k>(q1, k1)) * decay, v), plan_kind::product, 2, 20 * room));
  HOLDS(wrong(contract<key>(plain(scores<d_k>(q1, k1)) * where(c, decay, 0), v), plan_kind::product, 2, 20 * room));
  // The mean over heads.
  const auto one = drawn<tensor<float, batch, key, d_v>>(31, b, j, d_v{20});
  HOLDS(wrong(contract<key>(mean<heads>(a1), one), plan_kind::product, 2, room));
  HOLDS(wrong(contract<key>(mean<heads>(softmax<key>(scores<d_k>(q1, k1))), v), plan_kind::rows, 2, room));
}

TEST_CASE("words: masked weights that no fused kernel takes are multiplied by the product kernel") {
  const seq n{33};
  const key j{40};
  const auto q = drawn<tensor<float, heads, seq, d_k>>(32, heads{2}, n, d_k{24});
  const auto k = drawn<tensor<float, heads, key, d_k>>(33, heads{2}, j, d_k{24});
  auto v = drawn<tensor<float, heads, key, d_v>>(34, heads{2}, j, d_v{20});
  const auto m1 = drawn<tensor<bool, seq, key>>(35, n, j);
  tensor<bool, key> m2 = drawn<tensor<bool, key>>(36, j);
  m2.data()[5] = false;
  // A scale for each key: the fused kernel takes none.
  const auto per_key = drawn<tensor<float, key>>(37, j);
  const auto a = softmax<key>(masked(masked(scores<d_k>(q, k) * per_key, allow(m1)), allow(m2)));
  HOLDS(wrong(contract<key>(a, v), plan_kind::product, 2, of_attention(24, 40)));
  HOLDS(wrong(contract<key>(v, a), plan_kind::product, 2, of_attention(24, 40)));
  // A hidden element has no effect, even if it is NaN or infinite.
  for (std::size_t i = 0; i < 20; ++i) {
    v.data()[5 * 20 + i] = i % 2 == 0 ? dimwise_test::not_a_number : dimwise_test::infinite;
  }
  const auto e = contract<key>(a, v);
  CHECK(dimwise_test::differ(evaluate(e), evaluate_plainly(e), dimwise_test::float32(of_attention(24, 40))) == "");
  const tensor finite = evaluate(e);
  for (std::size_t i = 0; i < 20; ++i) { CHECK(std::isfinite(finite.values()[i])); }
}

}  // namespace
}  // namespace words_plan
