// tests/eval/special_values/special_values.test.cpp -- NaN, infinities, zeros, subnormals and large numbers in
// maps, arithmetic, rows, reductions and products: kernels, the scalar path and float64 agree.
//
// SPDX-License-Identifier: BSL-1.0
#include "special_values.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace special;

struct d_model : feature_dim<> {};
struct d_ff : feature_dim<> {};

using matrix = tensor<float, seq, d_model>;

// Every special value at some places of `x`, in the expression that `formula` makes of it.
template <class X, class Formula>
void sweep(const X& base, float large, plan_kind kind, const char* operation, const Formula& formula) {
  const std::string name = operation;
  CAPTURE(name);
  CHECK(disagreement(formula(base), kind) == "");
  for (const float number : special::numbers(large)) {
    for (const std::size_t at : special::places(base.size())) {
      X x = base;
      elements(x)[at] = number;
      CAPTURE(number);
      CAPTURE(at);
      CHECK(disagreement(formula(x), kind) == "");
    }
  }
}

// A function of special values and of those at which a formula for it may break.
template <class Formula>
void check_function(plan_kind kind, const char* operation, const Formula& formula) {
  std::vector<float> numbers = special::numbers(3e38F);
  for (const float x : {1e-3F, 1.0F, 5.0F, 6.5F, 9.0F, 12.0F, 15.0F, 20.0F, 50.0F, 87.5F, 88.5F, 104.0F, 150.0F, 1e3F,
                        1e10F, 1e13F, 1e20F, 3.4e38F}) {
    numbers.push_back(x);
    numbers.push_back(-x);
  }
  numbers.push_back(0.0F);
  const std::string name = operation;
  CAPTURE(name);
  for (const float number : numbers) {
    for (const std::size_t at : counts{0, 15, 16, 36}) {  // a whole register of any architecture, and a tail
      auto x = drawn<tensor<float, d_model>>(1, d_model{37});
      elements(x)[at] = number;
      CAPTURE(number);
      CAPTURE(at);
      CHECK(disagreement(formula(x), kind) == "");
    }
  }
  CHECK(disagreement(formula(tensor<float, d_model>(d_model{0})), kind) == "");
}

float one(const auto& expression) {
  const tensor value = evaluate(expression);
  return value.values()[0];
}

}  // namespace

TEST_CASE("special values: functions of elements") {
  check_function(plan_kind::map, "relu", [](const auto& x) { return relu(x); });
  check_function(plan_kind::map, "gelu", [](const auto& x) { return gelu(x); });
  check_function(plan_kind::map, "gelu_tanh", [](const auto& x) { return gelu_tanh(x); });
  check_function(plan_kind::map, "silu", [](const auto& x) { return silu(x); });
  check_function(plan_kind::map, "sigmoid", [](const auto& x) { return sigmoid(x); });
  check_function(plan_kind::map, "softplus", [](const auto& x) { return softplus(x); });
  check_function(plan_kind::map, "tanh", [](const auto& x) { return tanh(x); });
  check_function(plan_kind::map, "exp", [](const auto& x) { return exp(x); });
  check_function(plan_kind::map, "erf", [](const auto& x) { return erf(x); });
  check_function(plan_kind::map, "log", [](const auto& x) { return log(x); });
  check_function(plan_kind::map, "sqrt", [](const auto& x) { return sqrt(x); });
  check_function(plan_kind::map, "abs", [](const auto& x) { return abs(x); });
  check_function(plan_kind::map, "square", [](const auto& x) { return square(x); });
  check_function(plan_kind::map, "pow", [](const auto& x) { return pow(x, 2); });
  check_function(plan_kind::map, "negate", [](const auto& x) { return -x; });
  check_function(plan_kind::map, "sin", [](const auto& x) { return sin(x); });
  check_function(plan_kind::map, "cos", [](const auto& x) { return cos(x); });
  check_function(plan_kind::map, "where, less", [](const auto& x) { return where(x < 1, x, 0); });
  check_function(plan_kind::map, "where, unequal", [](const auto& x) { return where(x != x, 0, x); });
}

TEST_CASE("special values: activations give their limits in every way") {
  for (const std::size_t n : counts{1, 37}) {  // the scalar path, and the kernel
    tensor<float, d_model> x(d_model{n});
    x.fill(-special::infinite);
    const auto same = [&] {
      CHECK(one(relu(x)) == 0.0F);
      CHECK(one(gelu(x)) == 0.0F);
      CHECK(one(gelu_tanh(x)) == 0.0F);
      CHECK(one(silu(x)) == 0.0F);
      CHECK(one(sigmoid(x)) == 0.0F);
      CHECK(one(softplus(x)) == 0.0F);
      CHECK(one(exp(x)) == 0.0F);
      CHECK(one(tanh(x)) == -1.0F);
      CHECK(one(erf(x)) == -1.0F);
      CHECK(one(abs(x)) == special::infinite);
    };
    same();
    const plain_loops only;
    same();
  }
  tensor<float, d_model> zero(d_model{1});
  elements(zero)[0] = -0.0F;
  CHECK(!std::signbit(one(abs(zero))));
}

TEST_CASE("special values: arithmetic of all pairs") {
  std::vector<float> numbers = special::numbers(3e38F);
  for (const float x : {0.0F, 1.0F, -2.0F}) { numbers.push_back(x); }
  const std::size_t n = numbers.size();
  matrix a(seq{n}, d_model{n + 8});
  matrix b = a;
  tensor<float, d_model> row(d_model{n + 8});
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n + 8; ++j) {
      elements(a)[i * (n + 8) + j] = numbers[i];
      elements(b)[i * (n + 8) + j] = elements(row)[j] = numbers[j % n];
    }
  }
  CHECK(disagreement(a + b, plan_kind::map) == "");
  CHECK(disagreement(a - b, plan_kind::map) == "");
  CHECK(disagreement(a * b, plan_kind::map) == "");
  CHECK(disagreement(a / b, plan_kind::map) == "");
  CHECK(disagreement(a + row, plan_kind::map) == "");
  CHECK(disagreement(a / row, plan_kind::map) == "");
  for (const float x : numbers) {
    CAPTURE(x);
    CHECK(disagreement(a * x, plan_kind::map) == "");
    CHECK(disagreement(a / x, plan_kind::map) == "");
    CHECK(disagreement(max(a, x), plan_kind::map) == "");
    CHECK(disagreement(min(a, x), plan_kind::map) == "");
  }
  CHECK(disagreement(max(a, b), plan_kind::map) == "");
  CHECK(disagreement(clamp(a, -1.0F, 1.0F), plan_kind::map) == "");
}

TEST_CASE("special values: rows") {
  for (const std::size_t n : counts{1, 5, 16, 37, 70}) {
    const auto x = drawn<matrix>(1, seq{3}, d_model{n});
    const auto gamma = drawn<tensor<float, d_model>>(2, d_model{n});
    const auto beta = drawn<tensor<float, d_model>>(3, d_model{n});
    const auto scores = drawn<tensor<float, d_model, seq>>(4, d_model{3}, seq{n});
    const plan_kind kind = n == 1 ? plan_kind::plain : plan_kind::rows;    // a row of one is no row to a kernel
    const plan_kind folded = n < 16 ? plan_kind::plain : plan_kind::rows;  // nor is a short one where it is reduced
    CAPTURE(n);
    sweep(scores, 2e38F, kind, "softmax", [](const auto& s) { return softmax<seq>(s); });
    sweep(scores, 2e38F, kind, "log_softmax", [](const auto& s) { return log_softmax<seq>(s); });
    sweep(scores, 2e38F, kind, "softmax, masked",
          [&](const auto& s) { return softmax<seq>(masked(s, padding<seq>(n - n / 3))); });
    sweep(x, 1e17F, kind, "standardize", [](const auto& y) { return standardize<d_model>(y); });
    sweep(x, 1e17F, kind, "layer_norm", [&](const auto& y) { return layer_norm<d_model>(y, gamma, beta); });
    sweep(x, 1e17F, kind, "rms_norm", [&](const auto& y) { return rms_norm<d_model>(y, gamma); });
    sweep(gamma, 1e17F, kind, "layer_norm's factors", [&](const auto& g) { return layer_norm<d_model>(x, g, beta); });
    sweep(x, 2e38F, folded, "sum", [](const auto& y) { return sum<d_model>(y); });
    sweep(x, 2e38F, folded, "mean", [](const auto& y) { return mean<d_model>(y); });
    sweep(x, 2e38F, folded, "max", [](const auto& y) { return max<d_model>(y); });
    sweep(x, 2e38F, folded, "min", [](const auto& y) { return min<d_model>(y); });
    sweep(x, 2e38F, folded, "norm", [](const auto& y) { return norm<d_model>(y); });
    sweep(scores, 2e38F, plan_kind::plain, "logsumexp", [](const auto& s) { return logsumexp<seq>(s); });
    sweep(x, 2e38F, plan_kind::plain, "prod", [](const auto& y) { return prod<d_model>(y); });
    sweep(scores, 2e38F, plan_kind::plain, "cumsum", [](const auto& s) { return cumsum<seq>(s); });
    sweep(scores, 2e38F, plan_kind::plain, "cumprod", [](const auto& s) { return cumprod<seq>(s); });
    // A sum that stays away from 0.
    sweep(evaluate(abs(scores) + 0.5F), 2e38F, plan_kind::plain, "renormalise",
          [](const auto& s) { return renormalise<seq>(s); });
    sweep(x, 2e38F, plan_kind::plain, "sum, masked",
          [&](const auto& y) { return sum<d_model>(y, padding<d_model>(n - n / 3)); });
  }
  for (const std::size_t rows : counts{0, 2}) {
    for (const std::size_t n : counts{0, 3}) {
      const auto x = drawn<matrix>(1, seq{rows}, d_model{n});
      const auto s = drawn<tensor<float, d_model, seq>>(2, d_model{rows}, seq{n});
      const auto gamma = drawn<tensor<float, d_model>>(3, d_model{n});
      CHECK(disagreement(softmax<seq>(s), plan_kind::rows) == "");
      CHECK(disagreement(log_softmax<seq>(s), plan_kind::rows) == "");
      CHECK(disagreement(layer_norm<d_model>(x, gamma, gamma), plan_kind::rows) == "");
      CHECK(disagreement(rms_norm<d_model>(x, gamma), plan_kind::rows) == "");
      CHECK(disagreement(sum<d_model>(x), plan_kind::plain) == "");
      CHECK(disagreement(mean<d_model>(x), plan_kind::plain) == "");
      CHECK(disagreement(max<d_model>(x), plan_kind::plain) == "");
      CHECK(disagreement(norm<d_model>(x), plan_kind::plain) == "");
      CHECK(disagreement(logsumexp<seq>(s), plan_kind::plain) == "");
    }
  }
}

TEST_CASE("special values: products, and what is done with them before they are stored") {
  struct extents {
    std::size_t rows;
    std::size_t sums;
    std::size_t columns;
  };
  for (const extents e : {extents{7, 19, 21}, extents{1, 33, 40}, extents{3, 8, 65}, extents{26, 5, 3}}) {
    const auto x = drawn<matrix>(1, seq{e.rows}, d_model{e.sums});
    const auto w = drawn<tensor<float, d_model, d_ff>>(2, d_model{e.sums}, d_ff{e.columns});
    const auto bias = drawn<tensor<float, d_ff>>(3, d_ff{e.columns});
    const auto residual = drawn<tensor<float, seq, d_ff>>(4, seq{e.rows}, d_ff{e.columns});
    CAPTURE(e.rows);
    const auto with = [&](const char* name, const auto& f) {
      sweep(x, 2e38F, plan_kind::product, name,
            [&](const auto& y) { return f(contract<d_model>(y, w) + bias) + residual; });
      sweep(w, 2e38F, plan_kind::product, name,
            [&](const auto& y) { return f(contract<d_model>(x, y) + bias) + residual; });
      sweep(bias, 2e38F, plan_kind::product, name,
            [&](const auto& y) { return f(contract<d_model>(x, w) + y) + residual; });
      sweep(residual, 2e38F, plan_kind::product, name,
            [&](const auto& y) { return f(contract<d_model>(x, w) + bias) + y; });
    };
    with("product, relu", [](const auto& y) { return relu(y); });
    with("product, gelu", [](const auto& y) { return gelu(y); });
    with("product, gelu_tanh", [](const auto& y) { return gelu_tanh(y); });
    with("product, silu", [](const auto& y) { return silu(y); });
    with("product, sigmoid", [](const auto& y) { return sigmoid(y); });
    with("product, tanh", [](const auto& y) { return tanh(y); });
    sweep(w, 2e38F, plan_kind::product, "product", [&](const auto& y) { return contract<d_model>(x, y); });
  }
  for (const std::size_t rows : counts{0, 5}) {
    for (const std::size_t sums : counts{0, 40}) {
      for (const std::size_t columns : counts{0, 9}) {
        const auto x = drawn<matrix>(1, seq{rows}, d_model{sums});
        const auto w = drawn<tensor<float, d_model, d_ff>>(2, d_model{sums}, d_ff{columns});
        const auto bias = drawn<tensor<float, d_ff>>(3, d_ff{columns});
        CHECK(disagreement(gelu(contract<d_model>(x, w) + bias), sums == 0 ? plan_kind::plain : plan_kind::product) ==
              "");
      }
    }
  }
}
