// tests/kernels/math.test.cpp -- math.hpp against the standard library in double.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/kernels/math.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace {

using namespace dimwise::kernels;
using arch = default_arch;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

template <class F>
float one(F f, float x) {
  return f(broadcast<arch>(x)).get(0);
}

// The distance in units of the last place of the exact result, which is subnormal below 2^-126.
double ulp_error(float got, double exact) {
  if (static_cast<float>(exact) == got) return 0;
  int exponent = 0;
  std::frexp(exact, &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent, -125) - 24);
  return std::fabs(static_cast<double>(got) - exact) / ulp;
}

// The worst error over floats in [low, high], every `step`-th bit pattern of either sign.
template <class F, class Exact>
double worst_ulp(F f, Exact exact, float low, float high, std::uint32_t step = 251) {
  double worst = 0;
  float block[lanes<arch>] = {};
  std::size_t filled = 0;
  for (std::uint64_t bits = 0; bits < 0x100000000ULL; bits += step) {
    const auto word = static_cast<std::uint32_t>(bits);
    float x = 0;
    std::memcpy(&x, &word, sizeof x);
    if (!(x >= low && x <= high)) continue;
    block[filled++] = x;
    if (filled < lanes<arch>) continue;
    filled = 0;
    float out[lanes<arch>];
    store<arch>(&out[0], f(load<arch>(&block[0])));
    for (std::size_t i = 0; i < lanes<arch>; ++i) {
      const double error = ulp_error(out[i], exact(static_cast<double>(block[i])));
      if (!(error <= worst)) worst = error;
    }
  }
  return worst;
}

double exact_gelu(double x) { return 0.5 * x * std::erfc(-x * std::sqrt(0.5)); }
double exact_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double exact_softplus(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
double exact_gelu_tanh(double x) {
  return x * exact_sigmoid(2 * std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x));
}

// What was measured over every 251st float, rounded up a little: a bound that only a change of the code can break.
// Without an fma the low half of x^2 is out of reach, which the far tail of gelu shows.
void check(const std::string& name, double worst, double bound) {
  MESSAGE(name << " " << worst << " ulp");
  CHECK(worst <= bound);
}

}  // namespace

TEST_CASE("math: errors in ulp") {
  check("exp", worst_ulp(exp_of{}, [](double x) { return std::exp(x); }, -104, 88.72F), 1.2);
  check("log", worst_ulp(log_of{}, [](double x) { return std::log(x); }, 1e-45F, 3.4e38F), 1.0);
  check("tanh", worst_ulp(tanh_of{}, [](double x) { return std::tanh(x); }, -infinity, infinity), 2.6);
  for (const float cap : {1.0F, 30.0F}) {
    check("soft cap",
          worst_ulp(soft_cap_of{cap}, [cap](double x) { return cap * std::tanh(x / cap); }, -infinity, infinity), 3.6);
  }
  check("erf", worst_ulp(erf_of{}, [](double x) { return std::erf(x); }, -infinity, infinity), 2.0);
  check("sigmoid", worst_ulp(sigmoid_of{}, exact_sigmoid, -87, infinity), 2.6);
  check("softplus", worst_ulp(softplus_of{}, exact_softplus, -104, 3e38F), 1.7);
  check("silu", worst_ulp(silu_of{}, [](double x) { return x * exact_sigmoid(x); }, -87, 3e38F), 3.4);
  check("gelu", worst_ulp(gelu_of{}, exact_gelu, -5, 3e38F), has_fma<arch> ? 7.5 : 13);
  check("gelu tail", worst_ulp(gelu_of{}, exact_gelu, -12.9F, -5), has_fma<arch> ? 7.5 : 70);
  check("sin", worst_ulp(sin_of{}, [](double x) { return std::sin(x); }, -infinity, infinity), 2.6);
  check("cos", worst_ulp(cos_of{}, [](double x) { return std::cos(x); }, -infinity, infinity), 2.6);
  check("sqrt", worst_ulp(sqrt_of{}, [](double x) { return std::sqrt(x); }, 0, infinity), 0.5);
  check("gelu_tanh", worst_ulp(gelu_tanh_of{}, exact_gelu_tanh, -3, 3e38F), 13);
}

TEST_CASE("math: special values") {
  CHECK(one(exp_of{}, 0.0F) == 1.0F);
  CHECK(one(exp_of{}, -infinity) == 0.0F);
  CHECK(one(exp_of{}, infinity) == infinity);
  CHECK(one(exp_of{}, 89.0F) == infinity);
  CHECK(one(exp_of{}, -103.0F) > 0.0F);
  CHECK(one(exp_of{}, -105.0F) == 0.0F);
  CHECK(one(log_of{}, 0.0F) == -infinity);
  CHECK(one(log_of{}, -0.0F) == -infinity);
  CHECK(one(log_of{}, 1.0F) == 0.0F);
  CHECK(one(log_of{}, infinity) == infinity);
  CHECK(std::isnan(one(log_of{}, -1.0F)));
  CHECK(one(tanh_of{}, infinity) == 1.0F);
  CHECK(one(tanh_of{}, -infinity) == -1.0F);
  CHECK(std::signbit(one(tanh_of{}, -0.0F)));
  CHECK(one(erf_of{}, infinity) == 1.0F);
  CHECK(one(erf_of{}, -infinity) == -1.0F);
  CHECK(one(sigmoid_of{}, infinity) == 1.0F);
  CHECK(one(sigmoid_of{}, -infinity) == 0.0F);
  CHECK(one(softplus_of{}, infinity) == infinity);
  CHECK(one(softplus_of{}, -infinity) == 0.0F);
  CHECK(one(softplus_of{}, -103.0F) > 0.0F);
  CHECK(one(softplus_of{}, 3e38F) == 3e38F);
  CHECK(one(silu_of{}, infinity) == infinity);
  CHECK(one(silu_of{}, -infinity) == 0.0F);
  CHECK(one(gelu_of{}, infinity) == infinity);
  CHECK(one(gelu_of{}, -infinity) == 0.0F);
  CHECK(one(gelu_tanh_of{}, infinity) == infinity);
  CHECK(one(gelu_tanh_of{}, -infinity) == 0.0F);
  CHECK(one(gelu_tanh_of{}, 1e30F) == 1e30F);
  CHECK(one(relu_of{}, -2.0F) == 0.0F);
  CHECK(one(relu_of{}, infinity) == infinity);
  CHECK(std::signbit(one(sin_of{}, -0.0F)));
  CHECK(one(cos_of{}, -0.0F) == 1.0F);
  CHECK(std::isnan(one(sin_of{}, infinity)));
  CHECK(std::isnan(one(cos_of{}, -infinity)));
  CHECK(one(sin_of{}, 1e30F) == doctest::Approx(std::sin(static_cast<double>(1e30F))));
  CHECK(std::signbit(one(sqrt_of{}, -0.0F)));
  CHECK(std::isnan(one(sqrt_of{}, -1.0F)));
  CHECK(one(square_of{}, -infinity) == infinity);
  CHECK(!std::signbit(one(abs_of{}, -0.0F)));
  CHECK(one(abs_of{}, -infinity) == infinity);
  CHECK(std::signbit(one(negate_of{}, 0.0F)));
  CHECK(!std::signbit(one(negate_of{}, -0.0F)));
}

TEST_CASE("math: NaN stays NaN") {
  CHECK(std::isnan(one(exp_of{}, not_a_number)));
  CHECK(std::isnan(one(log_of{}, not_a_number)));
  CHECK(std::isnan(one(tanh_of{}, not_a_number)));
  CHECK(std::isnan(one(erf_of{}, not_a_number)));
  CHECK(std::isnan(one(softplus_of{}, not_a_number)));
  CHECK(std::isnan(one(sigmoid_of{}, not_a_number)));
  CHECK(std::isnan(one(silu_of{}, not_a_number)));
  CHECK(std::isnan(one(gelu_of{}, not_a_number)));
  CHECK(std::isnan(one(gelu_tanh_of{}, not_a_number)));
  CHECK(std::isnan(one(relu_of{}, not_a_number)));
  CHECK(std::isnan(one(sin_of{}, not_a_number)));
  CHECK(std::isnan(one(cos_of{}, not_a_number)));
  CHECK(std::isnan(one(sqrt_of{}, not_a_number)));
  CHECK(std::isnan(one(square_of{}, not_a_number)));
  CHECK(std::isnan(one(abs_of{}, not_a_number)));
  CHECK(std::isnan(one(negate_of{}, not_a_number)));
}
