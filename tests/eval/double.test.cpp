// tests/eval/double.test.cpp -- formulas of double: that kernels run, that plans say so, and that the reference loops
// give the same, also for special values.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>

namespace double_formulas {
namespace {

using namespace dimwise;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};
struct token : choice_dim<> {};
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Numbers in [-1, 1) with all 53 bits; the same for the same seed.
template <class T>
T filled(T x, unsigned long long seed) {
  double* to = x.data();
  for (std::size_t i = 0; i < x.size(); ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    to[i] = static_cast<double>(static_cast<long long>(seed)) * 0x1p-63;
  }
  return x;
}

// What differs between the kernels and the reference loops by more than `units` of epsilon, or ran otherwise than its
// plan says; `plain` of the steps may be loops.
template <class E>
std::string wrong(const E& e, plan_kind expected, std::size_t count, double units, std::size_t plain = 0) {
  reset_plans();
  const auto fast = evaluate(e);
  const plan_counts ran = plans_run();
  const auto exact = evaluate_plainly(e);
  for (std::size_t i = 0; i < fast.size(); ++i) {
    const auto got = static_cast<double>(fast.values()[i]);
    const auto want = static_cast<double>(exact.values()[i]);
    const double size = std::fabs(want) > 1 ? std::fabs(want) : 1;
    const bool same = got == want || (got != got && want != want) ||
                      std::fabs(got - want) <= units * std::numeric_limits<double>::epsilon() * size;
    if (!same) { return std::to_string(i) + ": " + std::to_string(got) + " is not " + std::to_string(want); }
  }
  if (ran[expected] != count) { return "ran " + std::to_string(ran[expected]) + " times"; }
  if (ran[plan_kind::plain] != plain) { return "ran loops " + std::to_string(ran[plan_kind::plain]) + " times"; }
  if constexpr (std::is_same_v<detail::value_of<E>, double>) {
    const auto planned = plan(e);
    if (planned[expected] != count || planned[plan_kind::plain] != plain) { return planned.text(); }
  }
  return "";
}

TEST_CASE("double: products") {
  const auto q = filled(tensor<double, batch, seq, d_k>(batch{3}, seq{23}, d_k{50}), 1);
  const auto w = filled(tensor<double, d_k, d_v>(d_k{50}, d_v{31}), 2);
  const auto turned = filled(tensor<double, d_v, d_k>(d_v{31}, d_k{50}), 3);
  const auto k = filled(tensor<double, batch, key, d_k>(batch{3}, key{19}, d_k{50}), 4);
  const auto w_of_seq = filled(tensor<double, seq, d_v>(seq{23}, d_v{31}), 14);
  CHECK(wrong(contract<d_k>(q, w), plan_kind::product, 1, 50) == "");
  CHECK(wrong(contract<d_k>(q, turned), plan_kind::product, 1, 50) == "");
  CHECK(wrong(contract<d_k>(q, k), plan_kind::product, 1, 50) == "");
  CHECK(wrong(contract<seq>(w_of_seq, q), plan_kind::product, 1, 100) == "");
  CHECK(wrong(contract<d_k>(w, filled(tensor<double, d_k>(d_k{50}), 5)), plan_kind::product, 1, 50) == "");
  auto odd = q;
  odd.data()[7] = not_a_number;
  odd.data()[60] = infinite;
  odd.data()[130] = 1e300;
  CHECK(wrong(contract<d_k>(odd, w), plan_kind::product, 1, 50) == "");
  // Weights that are read again and again are packed.
  for (int i = 0; i < 3; ++i) { CHECK(wrong(contract<d_k>(q, w), plan_kind::product, 1, 50) == ""); }
}

TEST_CASE("double: rows and reductions") {
  auto x = filled(tensor<double, batch, seq, d_k>(batch{3}, seq{21}, d_k{77}), 6);
  auto logits = filled(tensor<double, seq, token>(seq{21}, token{77}), 15);
  const auto check = [&](double units) {
    CHECK(wrong(softmax<token>(logits), plan_kind::rows, 1, units) == "");
    CHECK(wrong(log_softmax<token>(logits), plan_kind::rows, 1, units) == "");
    CHECK(wrong(standardize<d_k>(x), plan_kind::rows, 1, units) == "");
    CHECK(wrong(rms_norm<d_k>(x), plan_kind::rows, 1, units) == "");
    CHECK(wrong(sum<d_k>(x), plan_kind::rows, 1, units) == "");
    CHECK(wrong(sum<seq>(x), plan_kind::rows, 1, units) == "");
    CHECK(wrong(sum<batch, seq, d_k>(x), plan_kind::rows, 1, 1000) == "");
    CHECK(wrong(mean<d_k>(x), plan_kind::rows, 1, units) == "");
    CHECK(wrong(max<d_k>(x), plan_kind::rows, 1, 0) == "");
    CHECK(wrong(min<seq>(x), plan_kind::rows, 1, 0) == "");
    CHECK(wrong(norm<d_k>(x), plan_kind::rows, 1, units) == "");
    CHECK(wrong(norm<batch, d_k>(x), plan_kind::rows, 1, units) == "");
  };
  check(30);
  x.data()[5] = logits.data()[5] = infinite;
  x.data()[100] = logits.data()[100] = -infinite;
  x.data()[300] = logits.data()[300] = not_a_number;
  x.data()[500] = -0.0;
  x.data()[700] = 1e200;  // its square is infinite
  check(30);
}

TEST_CASE("double: elements") {
  auto x = filled(tensor<double, seq, d_k>(seq{21}, d_k{77}), 7);
  auto y = filled(tensor<double, seq, d_k>(seq{21}, d_k{77}), 8);
  const auto row = filled(tensor<double, d_k>(d_k{77}), 9);
  const auto check = [&] {
    CHECK(wrong(exp(x), plan_kind::map, 1, 4) == "");
    CHECK(wrong(tanh(x), plan_kind::map, 1, 4) == "");
    CHECK(wrong(gelu(x), plan_kind::map, 1, 4) == "");
    CHECK(wrong(silu(x), plan_kind::map, 1, 4) == "");
    CHECK(wrong(sigmoid(x), plan_kind::map, 1, 4) == "");
    CHECK(wrong(relu(x), plan_kind::map, 1, 0) == "");
    CHECK(wrong(log(square(x) + 1.0), plan_kind::map, 3, 4) == "");
    CHECK(wrong(sin(x * 100.0), plan_kind::map, 2, 4) == "");
    CHECK(wrong(cos(x), plan_kind::map, 1, 4) == "");
    CHECK(wrong(erf(x), plan_kind::map, 1, 4) == "");
    CHECK(wrong(softplus(x), plan_kind::map, 1, 4) == "");
    CHECK(wrong(sqrt(abs(x)), plan_kind::map, 2, 1) == "");
    CHECK(wrong(x + y, plan_kind::map, 1, 0) == "");
    CHECK(wrong(x - row, plan_kind::map, 1, 0) == "");
    CHECK(wrong(x / y, plan_kind::map, 1, 0) == "");
    CHECK(wrong(max(x, y), plan_kind::map, 1, 0) == "");
    CHECK(wrong(clamp(x, -0.25, 0.5), plan_kind::map, 1, 0) == "");
    CHECK(wrong(x < y, plan_kind::map, 1, 0) == "");
    CHECK(wrong(x != y, plan_kind::map, 1, 0) == "");
    CHECK(wrong(where(x < y, x, y), plan_kind::map, 2, 0) == "");
  };
  check();
  x.data()[3] = infinite;
  x.data()[10] = -infinite;
  x.data()[20] = not_a_number;
  x.data()[30] = -0.0;
  y.data()[3] = not_a_number;
  y.data()[30] = 0.0;
  check();
}

// Rounding of 33 products, of up to 40 weights and of their sum; values are below 1.
constexpr double attention_units = 100;

TEST_CASE("double: attention is fused; hidden values have no effect") {
  const auto q = filled(tensor<double, batch, seq, d_k>(batch{2}, seq{40}, d_k{33}), 10);
  const auto k = filled(tensor<double, batch, key, d_k>(batch{2}, key{40}, d_k{33}), 11);
  auto v = filled(tensor<double, batch, key, d_v>(batch{2}, key{40}, d_v{20}), 12);
  const auto weighted = [&](const auto& s) { return contract<key>(softmax<key>(s), v); };
  const auto attention = [&] { return weighted(masked(scores<d_k>(q, k), causal<seq, key>{})); };
  CHECK(wrong(attention(), plan_kind::attention, 1, attention_units) == "");
  v.data()[39 * 20] = not_a_number;  // of the last key, which the last query alone sees
  reset_plans();
  const auto y = evaluate(attention());
  CHECK(plans_run()[plan_kind::attention] == 1);
  CHECK(plans_run()[plan_kind::product] == 0);
  const auto plain = evaluate_plainly(attention());
  for (std::size_t i = 0; i < y.size(); ++i) {
    CHECK(std::isnan(y.values()[i]) == (i == 39 * 20));
    CHECK(std::isnan(plain.values()[i]) == (i == 39 * 20));
  }
}

TEST_CASE("double: what attention fuses") {
  const auto q = filled(tensor<double, batch, seq, d_k>(batch{2}, seq{40}, d_k{33}), 10);
  const auto k = filled(tensor<double, batch, key, d_k>(batch{2}, key{40}, d_k{33}), 11);
  const auto v = filled(tensor<double, batch, key, d_v>(batch{2}, key{40}, d_v{20}), 12);
  const auto weighted = [&](const auto& s) { return contract<key>(softmax<key>(s), v); };
  const auto s = scores<d_k>(q, k);
  const auto fused = [&](const auto& e) { return wrong(e, plan_kind::attention, 1, attention_units); };
  CHECK(fused(weighted(s)) == "");
  CHECK(fused(weighted(masked(s, window<seq, key>{3, 1}))) == "");
  CHECK(fused(weighted(biased(s, filled(tensor<double, seq, key>(seq{40}, key{40}), 16)))) == "");
  CHECK(fused(weighted(biased(s, filled(tensor<double, batch, key>(batch{2}, key{40}), 17)))) == "");
  tensor<bool, seq, key> shown(seq{40}, key{40});
  for (std::size_t i = 0; i < shown.size(); ++i) { shown.data()[i] = i % 3 != 0; }
  CHECK(fused(weighted(masked(s, allow(shown)))) == "");
  CHECK(fused(weighted(masked(s, padding<key>(tensor<int, batch>({7, 0}, batch{2}))))) == "");
  CHECK(fused(weighted(s * filled(tensor<double, batch, seq>(batch{2}, seq{40}), 18))) == "");
}

TEST_CASE("double: soft caps, functions of scores and few queries are products and a softmax") {
  const auto q = filled(tensor<double, batch, seq, d_k>(batch{2}, seq{40}, d_k{33}), 10);
  const auto k = filled(tensor<double, batch, key, d_k>(batch{2}, key{40}, d_k{33}), 11);
  const auto v = filled(tensor<double, batch, key, d_v>(batch{2}, key{40}, d_v{20}), 12);
  const auto s = scores<d_k>(q, k);
  const auto capped = 0.5 * tanh(s * 2.0);
  CHECK(wrong(contract<key>(softmax<key>(capped), v), plan_kind::product, 2, attention_units) == "");
  const auto last = filled(tensor<double, batch, d_k>(batch{2}, d_k{33}), 19);
  CHECK(wrong(contract<key>(softmax<key>(scores<d_k>(last, k)), v), plan_kind::product, 2, attention_units) == "");
}

TEST_CASE("double: the reference runs loops, and so do nodes of float in double") {
  const auto x = filled(tensor<double, seq, d_k>(seq{21}, d_k{77}), 13);
  reset_plans();
  const auto reference_of_double = reference(gelu(x));
  CHECK(plans_run()[plan_kind::map] == 0);
  tensor<float, seq, d_k> narrow(seq{21}, d_k{77});
  for (std::size_t i = 0; i < x.size(); ++i) { narrow.data()[i] = static_cast<float>(x.values()[i]); }
  reset_plans();
  const tensor<double, seq, d_k> wide = gelu(narrow);
  const auto reference_of_float = reference(gelu(narrow));
  CHECK(plans_run()[plan_kind::map] == 0);
  for (std::size_t i = 0; i < wide.size(); ++i) { CHECK(wide.values()[i] == reference_of_float.values()[i]); }
  const auto plain = evaluate_plainly(gelu(x));
  for (std::size_t i = 0; i < wide.size(); ++i) { CHECK(plain.values()[i] == reference_of_double.values()[i]); }
}

}  // namespace
}  // namespace double_formulas
