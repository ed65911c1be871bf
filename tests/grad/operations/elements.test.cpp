// SPDX-License-Identifier: BSL-1.0
// The adjoints of products and of what goes over elements, against differences in float64.
#include "grad/nodes.hpp"

using namespace grad_tests;

TEST_CASE("products: free, shared and contracted dimensions, square weights, outer") {
  const auto x = some<batch, seq, d_model>(1, batch{2}, seq{3});
  const auto w = some<d_model, heads, d_k>(2);
  const auto square_weight = some<d_model, out<d_model>>(3);
  const auto k = some<batch, key, d_model>(4, batch{2}, key{5});
  CHECK_ADJOINT(std::tuple(x, w), contract<d_model>(std::get<0>(m), std::get<1>(m)));
  CHECK_ADJOINT(std::tuple(x, square_weight), contract<d_model>(std::get<0>(m), std::get<1>(m)));
  CHECK_ADJOINT(std::tuple(x, k), scores<d_model>(std::get<0>(m), std::get<1>(m)));
  CHECK_ADJOINT(std::tuple(x, k), unscaled(contract<d_model>(std::get<0>(m), std::get<1>(m))));
  CHECK_ADJOINT(std::tuple(x, x), contract<d_model>(std::get<0>(m), std::get<1>(m), along<seq>{}));
  const auto positions = some<seq>(5, seq{3});
  const auto features = some<hidden>(6);
  CHECK_ADJOINT(std::tuple(positions, features), outer(std::get<0>(m), std::get<1>(m)));
  CHECK_ADJOINT(x, contract<d_model>(m, w));
  CHECK_ADJOINT(w, contract<heads, d_k>(contract<d_model>(x, m), m));
}

TEST_CASE("arithmetic, broadcast by name, numbers on either side") {
  const auto x = between_kinks<batch, seq, d_model>(1, batch{2}, seq{3});
  const auto b = between_kinks<d_model>(2);
  const auto n = some<>(3);
  CHECK_ADJOINT(std::tuple(x, b), std::get<0>(m) + std::get<1>(m));
  CHECK_ADJOINT(std::tuple(x, b), std::get<1>(m) - std::get<0>(m));
  CHECK_ADJOINT(std::tuple(x, b), std::get<0>(m) * std::get<1>(m));
  CHECK_ADJOINT(std::tuple(x, b), std::get<0>(m) / (std::get<1>(m) + 4.0));
  CHECK_ADJOINT(std::tuple(x, n), std::get<0>(m) * std::get<1>(m) + 2.0 - 3.0 / (square(std::get<0>(m)) + 1.0));
  CHECK_ADJOINT(x, m * m + m);
  CHECK_ADJOINT(x, -m);
  CHECK_ADJOINT(x, max(m, 0.0) + min(m, 0.5) + clamp(m, -0.3, 0.7));
  CHECK_ADJOINT(std::tuple(x, b), max(std::get<0>(m), std::get<1>(m) + 0.02));
  CHECK_ADJOINT(std::tuple(x, b), where(std::get<0>(m) > 0.0, std::get<0>(m), std::get<1>(m)));
}

namespace {
struct cubed {
  template <class T>
  T operator()(T v) const {
    return v * v * v;
  }
  template <class T>
  T derivative(T v) const {
    return 3 * v * v;
  }
};
struct weighed_square {
  template <class T>
  T operator()(T a, T b) const {
    return a * a * b;
  }
  template <std::size_t I, class T>
  T derivative(T a, T b) const {
    return I == 0 ? 2 * a * b : a * a;
  }
};
}  // namespace

TEST_CASE("user-defined functions, of one number and of two, and marks that are dropped") {
  const auto x = some<batch, d_model>(1, batch{3});
  CHECK_ADJOINT(x, map(cubed(), m));
  CHECK_ADJOINT(std::tuple(x, some<d_model>(2)), map(weighed_square(), std::get<0>(m), std::get<1>(m)));
  CHECK_ADJOINT(x, plain(m) * 2.0);
}

TEST_CASE("functions") {
  const auto x = between_kinks<batch, d_model>(1, batch{3});
  CHECK_ADJOINT(x, relu(m));
  CHECK_ADJOINT(x, gelu(m));
  CHECK_ADJOINT(x, gelu_tanh(m));
  CHECK_ADJOINT(x, silu(m));
  CHECK_ADJOINT(x, sigmoid(m));
  CHECK_ADJOINT(x, softplus(m));
  CHECK_ADJOINT(x, tanh(m));
  CHECK_ADJOINT(x, exp(m));
  CHECK_ADJOINT(x, log(square(m) + 0.5));
  CHECK_ADJOINT(x, sqrt(square(m) + 0.5));
  CHECK_ADJOINT(x, erf(m));
  CHECK_ADJOINT(x, abs(m));
  CHECK_ADJOINT(x, sin(m) + cos(m));
  CHECK_ADJOINT(x, pow(square(m) + 0.5, 1.5));
  CHECK_ADJOINT(std::tuple(x, x), pow(square(std::get<0>(m)) + 0.5, std::get<1>(m)));
}
