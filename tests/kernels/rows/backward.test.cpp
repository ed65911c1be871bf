// tests/kernels/rows/backward.test.cpp -- the backward pass of rows, norms, functions and gathers against loops in
// double.
//
// SPDX-License-Identifier: BSL-1.0
#include "kernels/kernel_test_support.hpp"
#include "support/threads.hpp"
#include <dimwise/kernels/dispatch/gradient_implementation.hpp>
#include <dimwise/kernels/dispatch/implementation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace dimwise::kernels;
using support::racing_executor;
using support::scratch_memory;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr double unit = 1.0 / (1 << 24);  // half an ulp of 1

std::vector<std::size_t> extents() {
  std::vector<std::size_t> out;
  for (std::size_t n = 1; n <= 70; ++n) out.push_back(n);
  for (std::size_t n : {127, 128, 129, 500, 1000}) out.push_back(n);
  return out;
}

std::vector<float> numbers(std::size_t n, unsigned seed, float size = 1.0F) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0F, size);
  std::vector<float> out(n);
  for (float& x : out) x = normal(random);
  return out;
}

TEST_CASE("softmax gradient: p (g - sum of p g), and a weight of 0 takes no part") {
  for (const std::size_t n : extents()) {
    CAPTURE(n);
    auto x = numbers(n, 1, 3.0F);
    if (n > 4) x[3] = -infinity;
    std::vector<float> p(n);
    softmax_row(n, x.data(), p.data());
    auto g = numbers(n, 2);
    if (n > 4) g[3] = not_a_number;
    double sum = 0;
    double size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (p[i] == 0) continue;
      sum += double{p[i]} * g[i];
      size += std::abs(double{p[i]} * g[i]);
    }
    std::vector<float> out(n + 1, 7.0F);
    softmax_row_gradient(n, p.data(), g.data(), out.data());
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double truth = p[i] == 0 ? 0 : p[i] * (g[i] - sum);
      worst = std::max(worst, std::abs(out[i] - truth) / (unit * (1e-30 + p[i] * (std::abs(g[i]) + 4 * size))));
      if (p[i] == 0) CHECK(out[i] == 0.0F);
    }
    CHECK(worst <= 3.0);
    CHECK(out[n] == 7.0F);
    softmax_row_gradient(n, p.data(), g.data(), g.data());
    CHECK(std::memcmp(g.data(), out.data(), n * sizeof(float)) == 0);
  }
}

TEST_CASE("log-softmax gradient: g - e^y sum of g, and -inf takes no part") {
  for (const std::size_t n : extents()) {
    CAPTURE(n);
    auto x = numbers(n, 3, 3.0F);
    if (n > 4) x[2] = -infinity;
    std::vector<float> y(n);
    log_softmax_row(n, x.data(), y.data());
    auto g = numbers(n, 4);
    if (n > 4) g[2] = not_a_number;
    double sum = 0;
    double size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (y[i] == -infinity) continue;
      sum += g[i];
      size += std::abs(g[i]);
    }
    std::vector<float> out(n + 1, 7.0F);
    log_softmax_row_gradient(n, y.data(), g.data(), out.data());
    for (std::size_t i = 0; i < n; ++i) {
      if (y[i] == -infinity) {
        CHECK(out[i] == 0.0F);
        continue;
      }
      const double truth = g[i] - std::exp(double{y[i]}) * sum;
      CHECK(std::abs(out[i] - truth) <= 2 * unit * (std::abs(g[i]) + 6 * std::exp(double{y[i]}) * size));
    }
    CHECK(out[n] == 7.0F);
  }
}

/// dx, d_gamma, d_beta of a norm, by the formulas.
struct norm_truth {
  std::vector<double> x, gamma, beta, x_size, gamma_size, beta_size;
};
norm_truth norm_gradient_of(std::size_t rows, std::size_t n, const std::vector<float>& x, const std::vector<float>& g,
                            const float* gamma, double epsilon, bool centred) {
  norm_truth to{std::vector<double>(rows * n), std::vector<double>(n), std::vector<double>(n),
                std::vector<double>(rows * n), std::vector<double>(n), std::vector<double>(n)};
  const auto count = static_cast<double>(n);
  for (std::size_t r = 0; r < rows; ++r) {
    double mean = 0;
    for (std::size_t i = 0; i < n && centred; ++i) mean += x[r * n + i] / count;
    double variance = 0;
    for (std::size_t i = 0; i < n; ++i) variance += (x[r * n + i] - mean) * (x[r * n + i] - mean) / count;
    const double scale = 1 / std::sqrt(variance + epsilon);
    double of = 0;
    double with = 0;
    double size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double h = (x[r * n + i] - mean) * scale;
      const double u = g[r * n + i] * (gamma == nullptr ? 1.0 : double{gamma[i]});
      if (centred) of += u / count;
      with += u * h / count;
      size += std::abs(u) * (1 + std::abs(h)) / count;
      to.gamma[i] += g[r * n + i] * h;
      to.beta[i] += g[r * n + i];
      to.gamma_size[i] += std::abs(g[r * n + i]) * (1 + std::abs(h));
      to.beta_size[i] += std::abs(g[r * n + i]);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double h = (x[r * n + i] - mean) * scale;
      const double u = g[r * n + i] * (gamma == nullptr ? 1.0 : double{gamma[i]});
      to.x[r * n + i] = scale * (u - of - h * with);
      to.x_size[r * n + i] = scale * (std::abs(u) + size * (1 + std::abs(h)));
    }
  }
  return to;
}

template <bool Centred>
void check_norm(std::size_t rows, std::size_t n, bool factors) {
  CAPTURE(rows);
  CAPTURE(n);
  const auto x = numbers(rows * n, 5, 2.0F);
  const auto g = numbers(rows * n, 6);
  const auto gamma = numbers(n, 7);
  std::vector<float> out(rows * n, not_a_number);
  std::vector<float> d_gamma(n, 1.0F);
  std::vector<float> d_beta(n, -2.0F);
  rows_gradient_call c;
  c.rows = rows;
  c.n = n;
  c.in = x.data();
  c.gradient = g.data();
  c.out = out.data();
  c.in_row = c.gradient_row = c.out_row = static_cast<std::ptrdiff_t>(n);
  c.epsilon = 1e-5F;
  if (factors) {
    c.gamma = gamma.data();
    c.d_gamma = d_gamma.data();
    c.d_beta = d_beta.data();
  }
  scratch_memory scratch(norm_gradient_scratch_bytes(c));
  serial_executor serial;
  norm_gradient<default_arch, Centred>(c, scratch.get(), serial);
  CHECK(scratch.intact());
  const norm_truth truth = norm_gradient_of(rows, n, x, g, c.gamma, c.epsilon, Centred);
  double worst = 0;
  for (std::size_t i = 0; i < rows * n; ++i)
    worst = std::max(worst, std::abs(out[i] - truth.x[i]) / (unit * (truth.x_size[i] + 1e-30)));
  CHECK(worst <= 16.0);
  if (!factors) return;
  worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    worst = std::max(worst, std::abs(d_gamma[i] - 1 - truth.gamma[i]) / (unit * (4 + 4 * truth.gamma_size[i])));
    worst = std::max(worst, std::abs(d_beta[i] + 2 - truth.beta[i]) / (unit * (4 + 4 * truth.beta_size[i])));
  }
  CHECK(worst <= 4.0);
  // Any executor gives the same bits.
  const auto first = out;
  const auto first_gamma = d_gamma;
  std::fill(d_gamma.begin(), d_gamma.end(), 1.0F);
  std::fill(d_beta.begin(), d_beta.end(), -2.0F);
  const racing_executor racing{3};
  norm_gradient<default_arch, Centred>(c, scratch.get(), racing);
  CHECK(std::memcmp(first.data(), out.data(), out.size() * sizeof(float)) == 0);
  CHECK(std::memcmp(first_gamma.data(), d_gamma.data(), n * sizeof(float)) == 0);
}

TEST_CASE("norm gradients: dx, and the sums for gamma and beta" * support::threads) {
  for (const std::size_t n : extents()) {
    for (const bool factors : {false, true}) {
      check_norm<true>(3, n, factors);
      check_norm<false>(3, n, factors);
    }
  }
  check_norm<true>(700, 100, true);
  check_norm<false>(33, 3000, true);
}

TEST_CASE("norm gradients: nothing where there is nothing") {
  rows_gradient_call c;
  serial_executor serial;
  norm_gradient<default_arch, true>(c, nullptr, serial);
  scatter_call s;
  scatter_add<default_arch>(s, serial);
}

/// Slope by the formulas of the standard library.
double exact_derivative(function f, double x) {
  const double pi = 3.14159265358979323846;
  const double s = 1 / (1 + std::exp(-x));
  switch (f) {
    case function::none:
      return 1;
    case function::relu:
      return x > 0 ? 1 : 0;
    case function::gelu:
      return std::erfc(-x / std::sqrt(2.0)) / 2 + x * std::exp(-x * x / 2) / std::sqrt(2 * pi);
    case function::gelu_tanh: {
      const double c = std::sqrt(2 / pi);
      const double t = 1 / (1 + std::exp(-2 * c * (x + 0.044715 * x * x * x)));
      return t + x * t * (1 - t) * 2 * c * (1 + 3 * 0.044715 * x * x);
    }
    case function::silu:
      return s + x * s * (1 - s);
    case function::sigmoid:
      return std::exp(-std::abs(x)) / ((1 + std::exp(-std::abs(x))) * (1 + std::exp(-std::abs(x))));
    case function::tanh:
      return 1 / (std::cosh(x) * std::cosh(x));
    case function::exp:
      return std::exp(x);
    case function::log:
      return 1 / x;
    case function::erf:
      return 2 / std::sqrt(pi) * std::exp(-x * x);
    case function::sqrt:
      return 0.5 / std::sqrt(x);
    case function::abs:
      return x > 0 ? 1 : x < 0 ? -1 : 0;
    case function::square:
      return 2 * x;
    case function::sin:
      return std::cos(x);
    case function::cos:
      return -std::sin(x);
    case function::softplus:
      return s;
    default:
      return -1;
  }
}

constexpr function all_functions[] = {
    function::none,   function::relu, function::gelu, function::gelu_tanh, function::silu,  function::sigmoid,
    function::tanh,   function::exp,  function::log,  function::erf,       function::sqrt,  function::abs,
    function::square, function::sin,  function::cos,  function::softplus,  function::negate};

TEST_CASE("slopes of functions: small errors over the whole range") {
  for (const function f : all_functions) {
    CAPTURE(static_cast<int>(f));
    const bool positive = f == function::log || f == function::sqrt;
    std::vector<float> x;
    for (float at = positive ? 0.001F : -20.0F; at < 20.0F; at += 0.0037F) x.push_back(at);
    std::vector<float> ones(x.size(), 1.0F);
    std::vector<float> out(x.size());
    map_gradient(f, x.size(), x.data(), ones.data(), out.data());
    double absolute = 0;
    double relative = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double truth = exact_derivative(f, x[i]);
      absolute = std::max(absolute, std::abs(out[i] - truth) / std::max(1.0, std::abs(truth)));
      relative = std::max(relative, std::abs(out[i] - truth) / std::max(1e-35, std::abs(truth)));
    }
    CHECK(absolute <= 8 * unit);
    // Those without a zero of their own keep their relative accuracy where they vanish.
    if (f == function::sigmoid || f == function::tanh || f == function::exp) CHECK(relative <= 16 * unit);
  }
}

TEST_CASE("slopes of functions: limits at infinities, NaN stays, gradients multiply") {
  for (const function f : {function::relu, function::gelu, function::gelu_tanh, function::silu, function::softplus}) {
    CAPTURE(static_cast<int>(f));
    const std::vector<float> x{infinity, -infinity, 3.0e38F, -3.0e38F};
    std::vector<float> g(4, 3.0F);
    map_gradient(f, 4, x.data(), g.data(), g.data());
    CHECK(g[0] == 3.0F);
    CHECK(g[1] == 0.0F);
    CHECK(g[2] == 3.0F);
    CHECK(g[3] == 0.0F);
  }
  for (const function f : {function::sigmoid, function::tanh, function::erf}) {
    const std::vector<float> x{infinity, -infinity};
    std::vector<float> g(2, 3.0F);
    map_gradient(f, 2, x.data(), g.data(), g.data());
    CHECK(g[0] == 0.0F);
    CHECK(g[1] == 0.0F);
  }
  for (const function f : all_functions) {
    if (f == function::none || f == function::negate) continue;
    CAPTURE(static_cast<int>(f));
    const float g = 1.0F;
    float out = 0;
    map_gradient(f, 1, &not_a_number, &g, &out);
    CHECK(std::isnan(out));
    const float nothing = 0.0F;  // arrives: nothing is sent, whatever the slope is
    map_gradient(f, 1, &not_a_number, &nothing, &out);
    CHECK(out == 0.0F);
  }
  const float zero = 0.0F;
  const float g = 2.0F;
  float out = 5.0F;
  map_gradient(function::abs, 1, &zero, &g, &out);
  CHECK(out == 0.0F);
}

TEST_CASE_TEMPLATE("scatter_add: rows in order, onto what is there, the same from any number of threads" *
                       support::threads,
                   T, float, double) {
  using arch = std::conditional_t<std::is_same_v<T, double>, in_double<default_arch>, default_arch>;
  for (const std::size_t n : {std::size_t{1}, std::size_t{15}, std::size_t{64}, std::size_t{130}, std::size_t{768}}) {
    CAPTURE(n);
    const std::size_t rows = 300;
    const std::size_t words = 17;
    const auto drawn = numbers(rows * n, 8);
    const std::vector<T> in(drawn.begin(), drawn.end());
    std::vector<std::size_t> ids(2 * rows, 99999);
    std::mt19937 random(9);
    for (std::size_t r = 0; r < rows; ++r) ids[2 * r] = random() % (words - 1);
    std::vector<T> truth(words * n, T(0.5));
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < n; ++c) truth[ids[2 * r] * n + c] += in[r * n + c];
    }
    scatter_call_of<T> call;
    call.rows = rows;
    call.n = n;
    call.ids = ids.data();
    call.id_step = 2;
    call.in = in.data();
    call.in_row = call.out_row = static_cast<std::ptrdiff_t>(n);
    for (const std::size_t workers : {1, 3}) {
      std::vector<T> out(words * n, T(0.5));
      call.out = out.data();
      const racing_executor racing{workers};
      scatter_add<arch>(call, racing);
      CHECK(out == truth);
    }
  }
}

}  // namespace
