// tests/eval/attention/bfloat16.test.cpp -- attention of numbers that are rounded to bfloat16: one kernel takes it,
// whatever is done to its scores, and it gives what the reference loops give.
//
// A weight is rounded once, in the kernel before it is divided by the sum, in the formula after it; where the machine
// has no products of bfloat16, and for few queries, the kernel does not round it. Each rounding is a relative 2^-8 at
// most. So results are within 2 · 2^-8 of Σ p |v|, which is at most the largest |v|.
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/kernels/dispatch/active_bfloat16.hpp>
#include <dimwise/nn.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace {

using namespace dimwise;
using dimwise_test::drawn;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct kv_heads : heads_dim<> {};
struct group : heads_dim<> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};

template <class X>
auto half(const X& x) {
  return rounded<bfloat16>(x);
}

// Whether a kernel multiplies numbers of bfloat16, or floats.
std::string kernel_of(bool few = false) {
  return kernels::active_bfloat16() != nullptr && !few ? ", in bfloat16" : ", of bfloat16 in float";
}

// One kernel, and what the loops give, within `tolerance` of `most`.
template <class E>
void check(const E& e, double most, bool few = false) {
  const std::string how = plan(e).text();
  INFO(how);
  CHECK(how.find("softmax of scores, contracted with values" + kernel_of(few)) != std::string::npos);
  reset_plans();
  const tensor fast = e;
  CHECK(plans_run()[few ? plan_kind::decode : plan_kind::attention] == 1);
  CHECK(plans_run()[plan_kind::product] == 0);
  const auto exact = reference(e);
  double worst = 0;
  for (std::size_t i = 0; i < fast.size(); ++i) {
    const double error = std::fabs(static_cast<double>(exact.values()[i]) - static_cast<double>(fast.values()[i]));
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
  }
  CHECK(worst <= most * std::ldexp(1.0, -7));
}

struct operands {
  tensor<float, batch, kv_heads, group, seq, d_k> q;
  tensor<float, batch, kv_heads, key, d_k> k;
  tensor<float, batch, kv_heads, key, d_v> v;
  tensor<bfloat16, batch, kv_heads, key, d_k> quantised_k;
  tensor<bfloat16, batch, kv_heads, key, d_v> quantised_v;
  explicit operands(std::size_t n)
      : q(drawn<tensor<float, batch, kv_heads, group, seq, d_k>>(1, batch{2}, kv_heads{2}, group{2}, seq{n}, d_k{33})),
        k(drawn<tensor<float, batch, kv_heads, key, d_k>>(1, batch{2}, kv_heads{2}, key{n}, d_k{33})),
        v(drawn<tensor<float, batch, kv_heads, key, d_v>>(1, batch{2}, kv_heads{2}, key{n}, d_v{20})),
        quantised_k(drawn<tensor<bfloat16, batch, kv_heads, key, d_k>>(1, batch{2}, kv_heads{2}, key{n}, d_k{33})),
        quantised_v(drawn<tensor<bfloat16, batch, kv_heads, key, d_v>>(1, batch{2}, kv_heads{2}, key{n}, d_v{20})) {}
};
constexpr double largest = 1.2;  // of number_at

TEST_CASE("attention of rounded numbers is one kernel, under every mask and bias") {
  const operands x(70);
  const auto attend = [&](const auto& scores_of) {
    check(contract<key>(half(softmax<key>(scores_of(scores<d_k>(half(x.q), half(x.k))))), half(x.v)), largest);
  };
  attend([](const auto& s) { return s; });
  attend([](const auto& s) { return masked(s, causal<seq, key>{}); });
  attend([](const auto& s) { return masked(s, window<seq, key>(5, 3)); });
  const tensor<int, batch> lengths({70, 31}, batch{2});
  attend([&](const auto& s) { return masked(s, padding<key>(lengths)); });
  const auto bias = drawn<tensor<float, kv_heads, group, seq, key>>(1, kv_heads{2}, group{2}, seq{70}, key{70});
  attend([&](const auto& s) { return biased(s, bias); });
  attend([](const auto& s) { return masked(tanh(s / 2.0F) * 2.0F, causal<seq, key>{}); });
  attend([](const auto& s) { return map([](auto logit) { return logit + logit * logit / 4; }, s); });
}

TEST_CASE("keys and values that are stored in bfloat16 count as rounded") {
  const operands x(70);
  check(contract<key>(half(softmax<key>(scores<d_k>(half(x.q), widened(x.quantised_k)))), widened(x.quantised_v)),
        largest);
  check(contract<key>(half(softmax<key>(scores<d_k>(half(x.q), half(x.k)))), widened(x.quantised_v)), largest);
  // Stored, and rounded: the same numbers and the same bits.
  const tensor stored =
      contract<key>(half(softmax<key>(scores<d_k>(half(x.q), widened(x.quantised_k)))), widened(x.quantised_v));
  const tensor rounded_ones = contract<key>(half(softmax<key>(scores<d_k>(half(x.q), half(x.k)))), half(x.v));
  CHECK(std::equal(stored.values().begin(), stored.values().end(), rounded_ones.values().begin()));
}

TEST_CASE("few queries are multiplied as floats") {
  const operands x(3);
  check(contract<key>(half(softmax<key>(scores<d_k>(half(x.q), half(x.k)))), half(x.v)), largest, true);
  check(contract<key>(half(softmax<key>(scores<d_k>(half(x.q), widened(x.quantised_k)))), widened(x.quantised_v)),
        largest, true);
}

TEST_CASE("what is rounded in part is no attention of bfloat16") {
  const operands x(20);
  const auto not_in_bfloat16 = [](const auto& e) {
    const std::string how = plan(e).text();
    INFO(how);
    CHECK(how.find("bfloat16") == std::string::npos);
    const tensor fast = e;
    const auto exact = reference(e);
    double worst = 0;
    for (std::size_t i = 0; i < fast.size(); ++i) {
      worst =
          std::max(worst, std::fabs(static_cast<double>(exact.values()[i]) - static_cast<double>(fast.values()[i])));
    }
    // A weight near the middle of two numbers may be rounded to the other one.
    CHECK(worst <= largest * std::ldexp(1.0, -7));
  };
  const auto weights = [&](const auto& q, const auto& k) { return softmax<key>(scores<d_k>(q, k)); };
  not_in_bfloat16(contract<key>(weights(half(x.q), half(x.k)), half(x.v)));
  not_in_bfloat16(contract<key>(half(weights(x.q, half(x.k))), half(x.v)));
  not_in_bfloat16(contract<key>(half(weights(half(x.q), x.k)), half(x.v)));
  not_in_bfloat16(contract<key>(half(weights(half(x.q), half(x.k))), x.v));
  not_in_bfloat16(contract<key>(rounded<float16>(weights(half(x.q), half(x.k))), half(x.v)));
}

// In the loops, too: a weight of −0 stays one when it is rounded.
TEST_CASE("values that a mask hides have no effect, whatever they are") {
  operands x(70);
  x.v.data()[x.v.size() - 3] = std::numeric_limits<float>::quiet_NaN();
  const auto e =
      contract<key>(half(softmax<key>(masked(scores<d_k>(half(x.q), half(x.k)), causal<seq, key>{}))), half(x.v));
  const tensor fast = e;
  const auto exact = reference(e);
  std::size_t spoiled = 0;
  for (std::size_t i = 0; i < fast.size(); ++i) {
    CHECK(std::isnan(fast.values()[i]) == std::isnan(exact.values()[i]));
    spoiled += std::isnan(fast.values()[i]) ? 1 : 0;
  }
  CHECK(spoiled == 2);  // the last query of the last two heads
  // Weights that are stored hold +0.
  const tensor stored = half(softmax<key>(masked(scores<d_k>(half(x.q), half(x.k)), causal<seq, key>{})));
  CHECK(std::none_of(stored.values().begin(), stored.values().end(), [](float w) { return std::signbit(w); }));
}

TEST_CASE("weights are rounded as queries are, where a formula of nn says which they are") {
  const operands x(70);
  check(nn::attention<d_k, key>(half(x.q), half(x.k), half(x.v), causal<seq, key>{}), largest);
  check(nn::attention<d_k, key>(half(x.q), widened(x.quantised_k), widened(x.quantised_v), nn::soft_cap{2}), largest);
  check(nn::attention<d_k, key>(half(x.q), half(x.k), half(x.v), alibi<seq, key, group>{}), largest);
  CHECK(plan(nn::attention<d_k, key>(x.q, widened(x.quantised_k), widened(x.quantised_v))).text().find("bfloat16") ==
        std::string::npos);
}

struct text : packed_dim<> {};
struct text_key : prime<text> {};
TEST_CASE("documents are attended one by one") {
  const text queries{{3, 0, 70, 1, 26}};
  const text_key keys{{3, 0, 70, 1, 26}};
  const auto q = drawn<tensor<float, text, kv_heads, d_k>>(1, queries, kv_heads{3}, d_k{8});
  const auto k = drawn<tensor<float, text_key, kv_heads, d_k>>(1, keys, kv_heads{3}, d_k{8});
  const auto v = drawn<tensor<float, text_key, kv_heads, d_v>>(1, keys, kv_heads{3}, d_v{5});
  check(nn::attention<d_k, text_key>(half(q), half(k), half(v), document<text, text_key>{}), largest);
  check(nn::attention<d_k, text_key>(half(q), half(k), half(v), causal<text, text_key>{} & document<text, text_key>{}),
        largest);
}

struct d_model : feature_dim<> {};
struct still_heads : heads_dim<4> {};
TEST_CASE("a module whose weights are numbers of bfloat16 attends in them") {
  nn::xavier_uniform how(7);
  using attention = nn::multi_head_attention<d_model, still_heads, d_k, d_v, nn::elements<bfloat16>>;
  const nn::self_attention<seq, key, attention> own{nn::initialised<attention>(how, d_model{48}, d_k{16}, d_v{12})};
  const auto x = drawn<tensor<float, batch, seq, d_model>>(1, batch{2}, seq{50}, d_model{48});
  const auto y = own.formula(x, causal<seq, key>{});
  const std::string text_of_plan = plan(y).text();
  INFO(text_of_plan);
  CHECK(text_of_plan.find(kernel_of()) != std::string::npos);
  const tensor fast = y;
  const auto exact = reference(y);
  // Values are sums of 48 products of x, up to 1.2, and weights up to sqrt(6 / 96); the backward pass sums 48 more.
  double most = 0;
  double worst = 0;
  for (std::size_t i = 0; i < fast.size(); ++i) {
    most = std::max(most, std::fabs(static_cast<double>(exact.values()[i])));
    worst = std::max(worst, std::fabs(static_cast<double>(exact.values()[i]) - static_cast<double>(fast.values()[i])));
  }
  CHECK(worst <= most * std::ldexp(1.0, -6));
  // With more than the input attended, nothing but the weights is rounded.
  using with_zero =
      nn::multi_head_attention<d_model, still_heads, d_k, d_v, nn::elements<bfloat16>, nn::zero_attn, nn::sinks>;
  const nn::self_attention<seq, key, with_zero> more{nn::initialised<with_zero>(how, d_model{48}, d_k{16}, d_v{12})};
  CHECK(more(x).size() == x.size());
}

// The formula of floats in double, and attention of numbers that are rounded. Rounding to 8 bits errs by at most 2^-8
// and by 0.0017 of the number on average (root mean square). A score of 64 normal products, divided by 8, errs by
// sqrt(2) times that, and so a weight by as much of itself; the weight and the value are rounded, too: 0.0033 of each
// term. Terms are independent, so the sums err by as much of theirs: below 2^-8. The largest of 65536 errors is some
// six times that and grows with the largest rows; of causal rows the first have few terms, and are the largest.
TEST_CASE("attention in bfloat16 against float64") {
  const seq n{512};
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  const auto drawn = [&](auto x) {
    for (std::size_t i = 0; i < x.size(); ++i) { x.data()[i] = normal(random); }
    return x;
  };
  const auto q = drawn(tensor<float, kv_heads, seq, d_k>(kv_heads{2}, n, d_k{64}));
  const auto k = drawn(tensor<float, kv_heads, key, d_k>(kv_heads{2}, key{512}, d_k{64}));
  const auto v = drawn(tensor<float, kv_heads, key, d_v>(kv_heads{2}, key{512}, d_v{64}));
  struct errors {
    double mean;
    double largest;
  };
  const auto errors_of = [](const auto& exact, const auto& given) {
    double output = 0;
    double error = 0;
    double most = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double e = static_cast<double>(given.values()[i]) - static_cast<double>(exact.values()[i]);
      output += static_cast<double>(exact.values()[i]) * static_cast<double>(exact.values()[i]);
      error += e * e;
      most = std::max(most, std::fabs(e));
    }
    return errors{std::sqrt(error / output), most / std::sqrt(output / static_cast<double>(exact.size()))};
  };
  const auto compared = [&](const std::string& name, double mean, double most, const auto&... mask) {
    const auto exact = reference(nn::attention<d_k, key>(q, k, v, mask...));
    const tensor fast = nn::attention<d_k, key>(half(q), half(k), half(v), mask...);
    const tensor floats = nn::attention<d_k, key>(q, k, v, mask...);
    const errors of_bfloat16 = errors_of(exact, fast);
    const errors of_float = errors_of(exact, floats);
    CAPTURE(name);
    CAPTURE(of_float.mean);
    CAPTURE(of_float.largest);
    CHECK(of_bfloat16.mean <= mean);
    CHECK(of_bfloat16.largest <= most);
  };
  compared("full", std::ldexp(1.0, -8), 0.04);
  compared("causal", std::ldexp(1.0, -8), 0.08, causal<seq, key>{});
}

}  // namespace
