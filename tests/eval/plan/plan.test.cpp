// tests/eval/plan/plan.test.cpp -- every plan against the scalar path, over generated extents, orders, strides and
// masks; and plan(expr), which must say what runs.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"
#include "support/plans.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

namespace plans {

using namespace dimwise;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct heads : heads_dim<> {};
struct per_head : heads_dim<> {};
struct d_model : feature_dim<> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};
struct d_ff : feature_dim<> {};

}  // namespace plans

namespace {

using namespace plans;
using dimwise_test::drawn;
using dimwise_test::scattered;

// Extents around the borders of tiles: 0, 1, a few, and one more or less than 4, 6, 16, 24, 32, 64, 96.
std::size_t some(std::size_t from = 0, std::size_t to = 100) {
  static const std::size_t borders[] = {0,  1,  2,  3,  4,  5,  6,  7,  15, 16, 17, 23, 24,
                                        25, 31, 32, 33, 48, 49, 63, 64, 65, 95, 96, 97};
  const std::size_t n = *rc::gen::elementOf(std::vector<std::size_t>(std::begin(borders), std::end(borders)));
  return n < from ? from : n > to ? to : n;
}
unsigned seed() { return *rc::gen::inRange(0U, 1000000U); }

// Where the evaluator differs from the scalar path by more than `roundings` of 2^-24, or runs other plans than plan(e)
// says; `expected` must run unless nothing is computed.
template <class E>
std::string wrong(const E& e, plan_kind expected, double roundings) {
  auto fast = evaluate_plainly(e);
  const auto scalar = fast;
  const std::string other = dimwise_test::misnamed(e, fast);
  for (std::size_t i = 0; i < fast.size(); ++i) {
    const double want = scalar.values()[i];
    const double off = std::abs(static_cast<double>(fast.values()[i]) - want);
    if (!(off <= roundings * 0x1p-24 * (1 + std::abs(want))) && !(std::isnan(want) && std::isnan(fast.values()[i]))) {
      return "element " + std::to_string(i) + ": " + std::to_string(fast.values()[i]) + ", by the scalar path " +
             std::to_string(want);
    }
  }
  if (!other.empty() || !kernels::available) { return other; }
  const evaluation_plan said = plan(e);
  if (said[expected] == 0 && fast.size() != 0) {
    return std::string("not ") + name_of(expected) + ", but\n" + said.text();
  }
  return {};
}
// The plan that a product takes: small ones take the scalar path.
plan_kind for_product(std::size_t sums, std::size_t terms) {
  return terms != 0 && sums * (terms + 8) >= detail::least_product ? plan_kind::product : plan_kind::plain;
}
plan_kind for_attention(std::size_t queries, std::size_t group) {
  return queries <= 4 && queries * group <= 32 ? plan_kind::decode : plan_kind::attention;
}

#define HOLDS(...) RC_ASSERT(std::string(__VA_ARGS__) == "")

// A sum of n products errs by n roundings; scores enter an exponent, and a weighted sum follows.
double of_sum(std::size_t n) { return 4 + 2 * static_cast<double>(n); }
double of_attention(std::size_t features, std::size_t keys) {
  return 40 + 8 * static_cast<double>(features) + 2 * static_cast<double>(keys);
}

}  // namespace

TEST_CASE("plan: products of any order, strides and extents") {
  CHECK(rc::check("x w, w x, views, batches", [] {
    const batch b{some(0, 3)};
    const seq s{some()};
    const d_model m{some()};
    const d_k k{some()};
    const auto x = drawn<tensor<float, batch, seq, d_model>>(seed(), b, s, m);
    const auto w = drawn<tensor<float, d_model, d_k>>(seed(), m, k);
    const auto turned = drawn<tensor<float, d_k, d_model>>(seed(), m, k);
    const auto each = drawn<tensor<float, d_model, batch, d_k>>(seed(), b, m, k);
    const std::size_t sums = b.extent() * s.extent() * k.extent();
    const plan_kind how = for_product(sums, m.extent());
    HOLDS(wrong(contract<d_model>(x, w), how, of_sum(m.extent())));
    HOLDS(wrong(contract<d_model>(turned, x), how, of_sum(m.extent())));
    HOLDS(wrong(contract<d_model>(x, each), how, of_sum(m.extent())));
    const scattered apart(x);
    const scattered weights(w);
    HOLDS(wrong(contract<d_model>(weights.view(), apart.view()), how, of_sum(m.extent())));
    HOLDS(wrong(contract<d_model, seq>(x, x * 2.0F, along<batch>{}), for_product(b.extent(), m.extent() * s.extent()),
                of_sum(m.extent() * s.extent())));
  }));
}

TEST_CASE("plan: what follows a product is done in its pass") {
  CHECK(rc::check("residual + f(x w + bias), by parts", [] {
    const seq s{some()};
    const d_model m{some(1)};
    const heads h{some(1, 4)};
    const d_k k{some(1, 33)};
    const auto x = drawn<tensor<float, seq, d_model>>(seed(), s, m);
    const auto w = drawn<tensor<float, d_model, heads, d_k>>(seed(), m, h, k);
    const auto bias = drawn<tensor<float, heads, d_k>>(seed(), h, k);
    const auto other = drawn<tensor<float, d_k, heads>>(seed(), h, k);
    const auto of_head = drawn<tensor<float, heads>>(seed(), h);
    const auto residual = drawn<tensor<float, seq, heads, d_k>>(seed(), s, h, k);
    const auto across = drawn<tensor<float, heads, d_k, seq>>(seed(), s, h, k);
    const std::size_t sums = s.extent() * h.extent() * k.extent();
    const plan_kind how = for_product(sums, m.extent());
    const double room = 8 * of_sum(m.extent());
    const auto product = contract<d_model>(x, w);
    HOLDS(wrong(product + bias, how, room));
    HOLDS(wrong(other + product, how, room));
    HOLDS(wrong(product + of_head, how, room));
    HOLDS(wrong(gelu(product + bias) + residual, how, room));
    HOLDS(wrong(residual + silu(product), how, room));
    HOLDS(wrong(across + product, how, room));
    HOLDS(wrong(relu(product + bias) + across, how, room));
    HOLDS(wrong(permute<d_k, seq, heads>(tanh(product + other)), how, room));
    HOLDS(wrong(contract<heads, d_k>(sigmoid(product + bias), residual, along<seq>{}),
                for_product(s.extent(), h.extent() * k.extent()), room * 4));
    if (kernels::available && how == plan_kind::product) {
      RC_ASSERT(plan(gelu(product + bias) + residual).steps().size() == 1U);
    }
  }));
}

TEST_CASE("plan: norms take gamma and beta in their pass") {
  CHECK(rc::check("layer_norm(x, gamma, beta), rms_norm(x, gamma)", [] {
    const seq s{some()};
    const d_model m{some(2)};
    const auto x = drawn<tensor<float, seq, d_model>>(seed(), s, m);
    const auto across = drawn<tensor<float, d_model, seq>>(seed(), s, m);
    const auto gamma = drawn<tensor<float, d_model>>(seed(), m);
    const auto beta = drawn<tensor<float, d_model>>(seed(), m);
    const plan_kind how = plan_kind::rows;
    // Few numbers of one row may be nearly equal: their variance is small, and errors are divided by its root.
    const double room = 4e4;
    HOLDS(wrong(layer_norm<d_model>(x), how, room));
    HOLDS(wrong(layer_norm<d_model>(x, gamma, beta), how, room));
    HOLDS(wrong(rms_norm<d_model>(x, gamma), how, room));
    HOLDS(wrong(layer_norm<d_model>(x + x, gamma, beta), how, room));
    HOLDS(wrong(layer_norm<d_model>(across, gamma, beta), s.extent() == 1 ? how : plan_kind::plain, room));
    HOLDS(wrong(softmax<key>(relabel<d_model, key>(x)), how, 64));
    HOLDS(wrong(log_softmax<key>(relabel<d_model, key>(x)), how, 64));
    if (kernels::available) { RC_ASSERT(plan(layer_norm<d_model>(x, gamma, beta)).steps().size() == 1U); }
  }));
}

TEST_CASE("plan: functions and arithmetic") {
  CHECK(rc::check("f(x), x + y, x * row", [] {
    const seq s{some()};
    const d_model m{some(1)};
    const auto x = drawn<tensor<float, seq, d_model>>(seed(), s, m);
    const auto y = drawn<tensor<float, d_model, seq>>(seed(), s, m);
    const auto row = drawn<tensor<float, d_model>>(seed(), m);
    const bool whole = s.extent() * m.extent() >= detail::least_row;
    const bool of_rows = whole && (m.extent() >= detail::least_row || s.extent() == 1 || m.extent() == 1);
    HOLDS(wrong(gelu(x), whole ? plan_kind::map : plan_kind::plain, 64));
    HOLDS(wrong(x - x * 0.5F, whole ? plan_kind::map : plan_kind::plain, 4));
    HOLDS(wrong(x * row, of_rows ? plan_kind::map : plan_kind::plain, 4));
    HOLDS(wrong(
        x + y, s.extent() == 1 || m.extent() == 1 ? (whole ? plan_kind::map : plan_kind::plain) : plan_kind::plain, 4));
    const scattered apart(x);
    HOLDS(wrong(exp(apart.view()), plan_kind::plain, 64));
  }));
}

TEST_CASE("plan: attention of any order, strides, groups and extents") {
  CHECK(rc::check("softmax(scores) contracted with values", [] {
    const batch b{some(0, 2)};
    const heads h{some(0, 2)};
    const per_head g{some(1, 3)};
    const seq s{some()};
    const key t{some()};
    const d_k k{some(1, 65)};
    const d_v v{some(0, 65)};
    const auto q = drawn<tensor<float, batch, seq, heads, d_k>>(seed(), b, s, h, k);
    const auto of_groups = drawn<tensor<float, batch, heads, per_head, seq, d_k>>(seed(), b, h, g, s, k);
    const auto keys = drawn<tensor<float, batch, key, heads, d_k>>(seed(), b, t, h, k);
    const auto values = drawn<tensor<float, heads, batch, key, d_v>>(seed(), b, t, h, v);
    const double room = of_attention(k.extent(), t.extent());
    const plan_kind how = for_attention(s.extent(), 1);
    HOLDS(wrong(contract<key>(softmax<key>(scores<d_k>(q, keys)), values), how, room));
    HOLDS(wrong(contract<key>(values, softmax<key>(scores<d_k>(keys, q))), how, room));
    HOLDS(wrong(contract<key>(softmax<key>(scores<d_k>(of_groups, keys)), values),
                for_attention(s.extent(), g.extent()), room));
    const scattered far_q(q);
    const scattered far_k(keys);
    const scattered far_v(values);
    HOLDS(wrong(contract<key>(softmax<key>(scores<d_k>(far_q.view(), far_k.view())), far_v.view()), how, room));
  }));
}

TEST_CASE("plan: attention under every sort of mask and bias") {
  CHECK(rc::check("softmax(masked(scores)) contracted with values", [] {
    const batch b{some(1, 2)};
    const heads h{some(1, 2)};
    const seq s{some(1)};
    const key t{s.extent()};
    const d_k k{some(1, 33)};
    const d_v v{some(1, 33)};
    const auto q = drawn<tensor<float, batch, heads, seq, d_k>>(seed(), b, h, s, k);
    const auto keys = drawn<tensor<float, batch, heads, key, d_k>>(seed(), b, h, t, k);
    const auto values = drawn<tensor<float, batch, heads, key, d_v>>(seed(), b, h, t, v);
    const auto visible = drawn<tensor<bool, batch, seq, key>>(seed(), b, s, t);
    const auto bias = drawn<tensor<float, heads, seq, key>>(seed(), h, s, t);
    tensor<std::int64_t, batch> lengths(b);
    for (std::size_t i = 0; i < b.extent(); ++i) {
      lengths.set(static_cast<std::int64_t>(*rc::gen::inRange<std::size_t>(0, t.extent() + 1)), id<batch>(i));
    }
    const auto raw = scores<d_k>(q, keys);
    const auto of = [&](const auto& x) { return contract<key>(softmax<key>(x), values); };
    const plan_kind how = for_attention(s.extent(), 1);
    const double room = of_attention(k.extent(), t.extent());
    const std::ptrdiff_t left = *rc::gen::inRange(0, 20);
    HOLDS(wrong(of(masked(raw, causal<seq, key>{})), how, room));
    HOLDS(wrong(of(masked(raw, window<seq, key>{left, 2})), how, room));
    HOLDS(wrong(of(masked(raw, causal<seq, key>{} & window<seq, key>{left, 0})), how, room));
    HOLDS(wrong(of(masked(raw, padding<key>(lengths))), how, room));
    HOLDS(wrong(of(masked(raw, padding<key>(lengths) & causal<seq, key>{})), how, room));
    HOLDS(wrong(of(masked(raw, allow(visible))), how, room));
    HOLDS(wrong(of(masked(biased(raw, bias), causal<seq, key>{})), how, room));
    HOLDS(wrong(of(masked(raw, causal<seq, key>{} | window<seq, key>{left, 1})), how, room));
  }));
}

TEST_CASE("plan: scores and weights that are asked for by themselves") {
  CHECK(rc::check("softmax(scores), not contracted", [] {
    const seq s{some(1)};
    const key t{some(2)};
    const d_k k{some(1, 33)};
    const auto q = drawn<tensor<float, seq, d_k>>(seed(), s, k);
    const auto keys = drawn<tensor<float, key, d_k>>(seed(), t, k);
    HOLDS(wrong(softmax<key>(scores<d_k>(q, keys)), plan_kind::rows, of_attention(k.extent(), t.extent())));
  }));
}

TEST_CASE("plan: keys and values in low precision are read as they lie") {
  const auto q = drawn<tensor<float, heads, seq, d_k>>(1, heads{2}, seq{7}, d_k{16});
  const auto keys = drawn<tensor<float, heads, key, d_k>>(2, heads{2}, key{9}, d_k{16});
  const auto values = drawn<tensor<float, heads, key, d_v>>(3, heads{2}, key{9}, d_v{8});
  tensor<std::int8_t, heads, key, d_k> bits(heads{2}, key{9}, d_k{16});
  for (std::size_t i = 0; i < bits.size(); ++i) { bits.data()[i] = static_cast<std::int8_t>(i % 50); }
  bits.seal();
  tensor<float, heads> of_heads({0.01F, 0.02F}, heads{2});
  const auto narrow = dequantised(bits, of_heads);
  CHECK(wrong(contract<key>(softmax<key>(scores<d_k>(q, narrow)), values), plan_kind::attention, 4e3) == "");
  const auto turned = permute<heads, d_k, key>(bits);
  CHECK(wrong(contract<key>(softmax<key>(scores<d_k>(q, dequantised(turned, of_heads))), values), plan_kind::attention,
              4e3) == "");
  CHECK(wrong(contract<key>(softmax<key>(scores<d_k>(q, dequantised(bits, of_heads * 2.0F))), values),
              plan_kind::attention, 4e3) == "");
  CHECK(wrong(narrow, plan_kind::plain, 4) == "");
  if (kernels::available) {
    CHECK(plan(contract<key>(softmax<key>(scores<d_k>(q, narrow)), values)).steps().size() == 1U);
  }
}

TEST_CASE("plan: what rotary, masks and biases are told is computed too") {
  struct pairs : feature_dim<> {};
  struct distance : feature_dim<> {};
  const auto x = drawn<tensor<float, seq, d_k>>(1, seq{6}, d_k{8});
  const auto angles = drawn<tensor<float, seq, pairs>>(2, seq{6}, pairs{4});
  const tensor<int, seq> places({0, 2, 4, 6, 8, 10}, seq{6});
  CHECK(wrong(rotary<seq, d_k>(x, cos(angles), sin(angles)), plan_kind::plain, 64) == "");
  CHECK(wrong(rotary<seq, d_k>(x, places * 2), plan_kind::plain, 64) == "");
  CHECK(wrong(rotary<seq, d_k>(x + x), plan_kind::plain, 64) == "");

  const auto s = drawn<tensor<float, seq, key, score<d_k>>>(3, seq{6}, key{6});
  const auto table = drawn<tensor<float, distance>>(4, distance{11});
  const auto visible = drawn<tensor<bool, seq, key>>(5, seq{6}, key{6});
  CHECK(wrong(softmax<key>(biased(s, relative_bias<seq, key, distance>(table * 2.0F))), plan_kind::rows, 64) == "");
  CHECK(wrong(softmax<key>(masked(s, (!allow(visible)) | causal<seq, key>{})), plan_kind::rows, 64) == "");
  CHECK(wrong(sum<key>(masked(plain(s) * 2.0F, causal<seq, key>{})), plan_kind::plain, 64) == "");
  // Scores that were stored: their weights meet values in the product kernel, with what follows.
  const auto v = drawn<tensor<float, key, d_v>>(6, key{6}, d_v{9});
  const auto more = drawn<tensor<float, seq, d_v>>(7, seq{6}, d_v{9});
  CHECK(wrong(contract<key>(softmax<key>(s), v), plan_kind::product, 64) == "");
  CHECK(wrong(contract<key>(softmax<key>(masked(s, causal<seq, key>{})), v), plan_kind::product, 64) == "");
  CHECK(wrong(gelu(contract<key>(softmax<key>(masked(s, causal<seq, key>{})), v)) + more, plan_kind::product, 64) ==
        "");
}

TEST_CASE("plan: what is reduced by its logarithms, joins and formulas are plain steps, and counted") {
  const auto x = drawn<tensor<float, seq, d_model>>(1, seq{9}, d_model{64});
  const auto y = drawn<tensor<float, seq, d_model>>(2, seq{3}, d_model{64});
  CHECK(wrong(logsumexp<seq>(x), plan_kind::plain, 64) == "");
  CHECK(wrong(sum<seq>(x), plan_kind::rows, 64) == "");
  CHECK(wrong(norm<seq>(x), plan_kind::rows, 64) == "");
  CHECK(wrong(norm<d_model>(gelu(x)), plan_kind::rows, 64) == "");
  CHECK(wrong(mean<seq>(gelu(x)), plan_kind::rows, 64) == "");
  CHECK(wrong(concat<seq>(x, gelu(y)), plan_kind::plain, 64) == "");
  CHECK(wrong(concat<d_model>(permute<d_model, seq>(x), permute<d_model, seq>(gelu(x))), plan_kind::plain, 64) == "");
  CHECK(wrong(stack<batch>(x, exp(x)), plan_kind::plain, 64) == "");
  CHECK(wrong(sinusoid<seq, d_model>(seq{4}, d_model{64}) + slice<seq>(x, 0, 4), plan_kind::plain, 64) == "");
  reset_plans();
  const tensor total = logsumexp<seq>(x);
  CHECK(plans_run()[plan_kind::plain] == 1U);
}

TEST_CASE("plan: in words") {
  if (!kernels::available) { return; }
  const auto x = drawn<tensor<float, seq, d_model>>(1, seq{9}, d_model{64});
  const auto w = drawn<tensor<float, d_model, d_ff>>(2, d_model{64}, d_ff{32});
  const auto bias = drawn<tensor<float, d_ff>>(3, d_ff{32});
  CHECK(plan(layer_norm<d_ff>(gelu(contract<d_model>(x, w) + bias))).text() ==
        "product   contract over d_model, plus a bias, through a function -> seq[9] d_ff[32]\n"
        "rows      standardize -> seq[9] d_ff[32]\n");
  CHECK(plan(sum<seq>(x)).text() == "rows      sum -> d_model[64]\n");
  CHECK(plan(norm<d_model>(x)).text() == "rows      norm -> seq[9]\n");
  CHECK(plan(logsumexp<seq>(x)).text() == "plain     logsumexp -> d_model[64]\n");
}
