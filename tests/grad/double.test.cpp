// tests/grad/double.test.cpp -- gradients in double: that kernels run, and that the reference loops give the same.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

namespace double_gradients {
namespace {

using namespace dimwise;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};

template <class T>
T filled(T x, unsigned long long seed) {
  double* to = x.data();
  for (std::size_t i = 0; i < x.size(); ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    to[i] = static_cast<double>(static_cast<long long>(seed)) * 0x1p-63;
  }
  return x;
}

// Whether the gradient by kernels is that of the loops, and `loops` loops ran.
template <class M, class Loss>
void check(const std::string& name, const M& model, const Loss& loss, std::size_t loops) {
  CAPTURE(name);
  reset_plans();
  const auto fast = gradient(model, loss);
  const plan_counts ran = plans_run();
  CHECK(ran[plan_kind::plain] == loops);
  const auto exact = [&] {
    const plain_loops only;
    return gradient(model, loss);
  }();
  CHECK(plans_run()[plan_kind::product] == ran[plan_kind::product]);
  double largest = 0;
  for (const double x : exact.values()) { largest = std::fabs(x) > largest ? std::fabs(x) : largest; }
  REQUIRE(largest > 0);
  for (std::size_t i = 0; i < fast.size(); ++i) {
    CHECK(std::fabs(fast.values()[i] - exact.values()[i]) <= 200 * std::numeric_limits<double>::epsilon() * largest);
  }
}

TEST_CASE("gradients in double: functions, products, norms and softmax") {
  const auto x = filled(tensor<double, seq, d_k>(seq{30}, d_k{33}), 1);
  const auto w = filled(tensor<double, d_k, d_v>(d_k{33}, d_v{40}), 2);
  const auto v = filled(tensor<double, key, d_v>(key{30}, d_v{40}), 3);
  const auto k = filled(tensor<double, key, d_k>(key{30}, d_k{33}), 4);
  const auto factor = filled(tensor<double, seq, d_v>(seq{30}, d_v{40}), 5);
  const auto total = [&](const auto& y) { return sum<seq, d_v>(y * factor); };
  check("gelu", w, [&](const auto& p) { return total(gelu(contract<d_k>(x, p))); }, 0);
  check("gate", w, [&](const auto& p) { return total(tanh(contract<d_k>(x, p)) * silu(contract<d_k>(x, p))); }, 0);
  check("standardize", w, [&](const auto& p) { return total(standardize<d_v>(contract<d_k>(x, p))); }, 0);
  check("rms_norm", w, [&](const auto& p) { return total(exp(rms_norm<d_v>(contract<d_k>(x, p)))); }, 0);
  check("attention", x, [&](const auto& q) {
    return total(contract<key>(softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{})), v));
  }, 0);
}

}  // namespace
}  // namespace double_gradients
