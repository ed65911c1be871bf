// tests/eval/plan/quantised.test.cpp -- products with quantized weights: which kernel takes them, and that it gives
// what the reference loops give.
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace {

using namespace dimwise;
using dimwise_test::drawn;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct d_model : feature_dim<> {};
struct heads : heads_dim<> {};
struct d_k : feature_dim<> {};
struct hidden : feature_dim<> {};

template <class E>
std::string plan_of(const E& e) {
  return plan(e).text();
}
// The kernel's result beside that of the reference loops in double.
template <class E>
void check_kernel(const E& e, double tolerance = 2e-6) {
  INFO(plan_of(e));
  CHECK(plan_of(e).find("with quantised weights") != std::string::npos);
  const tensor fast = e;
  const auto exact = reference(e);
  double most = 0;
  double error = 0;
  for (std::size_t i = 0; i < fast.size(); ++i) {
    most = std::max(most, std::fabs(static_cast<double>(exact.values()[i])));
    error = std::max(error, std::fabs(static_cast<double>(fast.values()[i]) - static_cast<double>(exact.values()[i])));
  }
  CHECK(error <= tolerance * most);
}

template <class T>
void check_modules() {
  nn::xavier_uniform how(11);
  const auto map = nn::initialised<nn::linear<nn::from<d_model>, nn::to<heads, d_k>, nn::with_bias, T>>(
      how, d_model{64}, heads{3}, d_k{24});
  const auto back = nn::initialised<nn::linear<nn::from<heads, d_k>, nn::to<d_model>, nn::no_bias, T>>(
      how, d_model{64}, heads{3}, d_k{24});
  for (const std::size_t length : {1, 3, 9}) {
    const auto x = drawn<tensor<float, batch, seq, d_model>>(1, batch{2}, seq{length}, d_model{64});
    check_kernel(map.formula(x));
    check_kernel(relu(map.formula(x)));
    const auto y = drawn<tensor<float, batch, seq, heads, d_k>>(1, batch{2}, seq{length}, heads{3}, d_k{24});
    check_kernel(back.formula(y) + x);
    // Heads outside positions: the inputs are put in the weights' order first.
    const auto z = drawn<tensor<float, batch, heads, seq, d_k>>(1, batch{2}, heads{3}, seq{length}, d_k{24});
    check_kernel(back.formula(z));
    // The weights may be the left operand, and the result may be what another expression reads.
    check_kernel(gelu(map.formula(x)) * 2.0F);
  }
}
TEST_CASE("modules with quantized weights run their kernels, and give what the reference loops give") {
  check_modules<bfloat16>();
  check_modules<float16>();
  check_modules<nn::int8_blocks>();
  check_modules<nn::int4_blocks>();
}

TEST_CASE("weights of bfloat16 by floats that are not rounded") {
  const auto w = drawn<tensor<bfloat16, hidden, d_model>>(1, hidden{33}, d_model{70});
  const auto x = drawn<tensor<float, seq, d_model>>(1, seq{5}, d_model{70});
  check_kernel(contract<d_model>(x, widened(w)));
  // From the left, into a result in which the weights' rows are neighbours.
  tensor<float, seq, hidden> left = contract<d_model>(widened(w), x);
  const tensor<float, seq, hidden> right = contract<d_model>(x, widened(w));
  CHECK(std::equal(left.values().begin(), left.values().end(), right.values().begin()));
  // A weight whose sums are not neighbours is widened and multiplied as floats.
  const auto turned = drawn<tensor<bfloat16, d_model, hidden>>(1, d_model{70}, hidden{33});
  const auto e = contract<d_model>(x, widened(turned));
  CHECK(plan_of(e).find("with quantised weights") == std::string::npos);
  const tensor y = e;
  const auto exact = reference(e);
  for (std::size_t i = 0; i < y.size(); ++i) {
    CHECK(y.values()[i] == doctest::Approx(exact.values()[i]).epsilon(1e-4));
  }
}

TEST_CASE("a part of the rows of a stored weight is one, too") {
  const auto w = drawn<tensor<bfloat16, hidden, d_model>>(1, hidden{40}, d_model{64});
  const auto x = drawn<tensor<float, seq, d_model>>(1, seq{2}, d_model{64});
  check_kernel(contract<d_model>(rounded<bfloat16>(x), widened(slice<hidden>(w, 8, 16))));
}

}  // namespace
