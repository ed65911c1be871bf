// tests/kernels/math_double.test.cpp -- the functions of doubles against the standard library in long double.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/kernels/exp.hpp>
#include <dimwise/kernels/math.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>

namespace {

using namespace dimwise::kernels;
using arch = in_double<default_arch>;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class F>
double one(F f, double x) {
  return f(broadcast<arch>(x)).get(0);
}

// The distance in units of the last place of the exact result, which is subnormal below 2^-1022.
double ulp_error(double got, long double exact) {
  if (static_cast<double>(exact) == got) return 0;
  int exponent = 0;
  std::frexp(exact, &exponent);
  const long double ulp = std::ldexp(1.0L, std::max(exponent, -1021) - 53);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) / ulp);
}

// The worst error over numbers in [low, high]: evenly spread ones, and those of any exponent.
template <class F, class Exact>
double worst_ulp(F f, Exact exact, double low, double high) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> even(low, high);
  double worst = 0;
  for (std::size_t block = 0; block < 60000; ++block) {
    double in[lanes<arch>];
    double out[lanes<arch>];
    for (double& x : in) {
      if (block % 3 != 0) {
        x = even(engine);
        continue;
      }
      do {
        const std::uint64_t bits = engine();
        std::memcpy(&x, &bits, sizeof x);
      } while (!(x >= low && x <= high));
    }
    store<arch>(&out[0], f(load<arch>(&in[0])));
    for (std::size_t i = 0; i < lanes<arch>; ++i) {
      const double error = ulp_error(out[i], exact(static_cast<long double>(in[i])));
      if (!(error <= worst)) worst = error;
    }
  }
  return worst;
}

const long double root_half = std::sqrt(0.5L);
const long double two_root_two_over_pi = 2 * std::sqrt(2 / std::acos(-1.0L));
long double exact_sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
long double exact_softplus(long double x) { return std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x))); }
long double exact_gelu(long double x) { return 0.5L * x * std::erfc(-x * root_half); }
long double exact_gelu_tanh(long double x) {
  return x * exact_sigmoid(two_root_two_over_pi * (x + 0.044715L * x * x * x));
}

TEST_CASE("math in double: errors in units of the last place") {
  const auto check = [](const std::string& name, double error, double limit) {
    CAPTURE(name);
    MESSAGE(name << " " << error);
    CHECK(error <= limit);
  };
  check("exp", worst_ulp(exp_of{}, [](long double x) { return std::exp(x); }, -745.0, 709.5), 0.9);
  check("exp, nonpositive",
        worst_ulp([](const auto& x) { return exp_nonpositive<arch>(x); }, [](long double x) { return std::exp(x); },
                  -708.39, 0.0),
        1.0);
  check("log", worst_ulp(log_of{}, [](long double x) { return std::log(x); }, 0.0, 1e300), 0.9);
  check("log near 1", worst_ulp(log_of{}, [](long double x) { return std::log(x); }, 0.5, 2.0), 1.0);
  check("tanh", worst_ulp(tanh_of{}, [](long double x) { return std::tanh(x); }, -25.0, 25.0),
        has_fma<arch> ? 1.6 : 1.9);
  check("tanh near 0", worst_ulp(tanh_of{}, [](long double x) { return std::tanh(x); }, -1.0, 1.0),
        has_fma<arch> ? 1.6 : 1.9);
  check("erf", worst_ulp(erf_of{}, [](long double x) { return std::erf(x); }, -7.0, 7.0), 1.2);
  check("sigmoid", worst_ulp(sigmoid_of{}, exact_sigmoid, -700.0, 40.0), 2.4);
  check("sigmoid near 0", worst_ulp(sigmoid_of{}, exact_sigmoid, -5.0, 5.0), 2.4);
  check("softplus", worst_ulp(softplus_of{}, exact_softplus, -700.0, 700.0), 1.5);
  check("softplus near 0", worst_ulp(softplus_of{}, exact_softplus, -40.0, 40.0), 1.5);
  check("silu", worst_ulp(silu_of{}, [](long double x) { return x * exact_sigmoid(x); }, -20.0, 20.0), 3.1);
  check("gelu", worst_ulp(gelu_of{}, exact_gelu, -5.0, 10.0), 6.9);
  check("gelu down", worst_ulp(gelu_of{}, exact_gelu, -37.0, 10.0), 6.9);
  check("gelu_tanh", worst_ulp(gelu_tanh_of{}, exact_gelu_tanh, -3.0, 10.0), 14.0);
  check("sin", worst_ulp(sin_of{}, [](long double x) { return std::sin(x); }, -10.0, 10.0), 0.9);
  check("sin far", worst_ulp(sin_of{}, [](long double x) { return std::sin(x); }, -2e6, 2e6), 0.9);
  check("cos", worst_ulp(cos_of{}, [](long double x) { return std::cos(x); }, -10.0, 10.0), 0.9);
  check("cos far", worst_ulp(cos_of{}, [](long double x) { return std::cos(x); }, -2e6, 2e6), 0.9);
  check("sqrt", worst_ulp(sqrt_of{}, [](long double x) { return std::sqrt(x); }, 0.0, 1e300), 0.501);
}

TEST_CASE("math in double: special values") {
  CHECK(one(exp_of{}, 0.0) == 1.0);
  CHECK(one(exp_of{}, -infinite) == 0.0);
  CHECK(one(exp_of{}, infinite) == infinite);
  CHECK(one(exp_of{}, 1000.0) == infinite);
  CHECK(one(exp_of{}, -745.0) == std::numeric_limits<double>::denorm_min());
  CHECK(one(exp_of{}, -1e9) == 0.0);
  CHECK(one([](const auto& x) { return exp_nonpositive<arch>(x); }, -infinite) == 0.0);
  CHECK(one([](const auto& x) { return exp_nonpositive<arch>(x); }, -709.0) == 0.0);
  CHECK(one([](const auto& x) { return exp_nonpositive<arch>(x); }, -0.0) == 1.0);
  CHECK(std::isnan(one([](const auto& x) { return exp_nonpositive<arch>(x); }, not_a_number)));
  CHECK(one(log_of{}, 1.0) == 0.0);
  CHECK(one(log_of{}, 0.0) == -infinite);
  CHECK(one(log_of{}, -0.0) == -infinite);
  CHECK(one(log_of{}, infinite) == infinite);
  CHECK(std::isnan(one(log_of{}, -1.0)));
  CHECK(std::isnan(one(log_of{}, -infinite)));
  CHECK(ulp_error(one(log_of{}, std::numeric_limits<double>::denorm_min()), std::log(0x1p-1074L)) <= 1.0);
  for (const double sign : {1.0, -1.0}) {
    CHECK(std::signbit(one(tanh_of{}, sign * 0.0)) == (sign < 0));
    CHECK(std::signbit(one(erf_of{}, sign * 0.0)) == (sign < 0));
    CHECK(std::signbit(one(sin_of{}, sign * 0.0)) == (sign < 0));
    CHECK(one(tanh_of{}, sign * infinite) == sign);
    CHECK(one(erf_of{}, sign * infinite) == sign);
    CHECK(one(tanh_of{}, sign * 1e-320) == sign * 1e-320);
    CHECK(std::isnan(one(sin_of{}, sign * infinite)));
    CHECK(std::isnan(one(cos_of{}, sign * infinite)));
  }
  CHECK(one(cos_of{}, 0.0) == 1.0);
  CHECK(one(sigmoid_of{}, infinite) == 1.0);
  CHECK(one(sigmoid_of{}, -infinite) == 0.0);
  CHECK(one(silu_of{}, infinite) == infinite);
  CHECK(one(silu_of{}, -infinite) == 0.0);
  CHECK(one(gelu_of{}, infinite) == infinite);
  CHECK(one(gelu_of{}, -infinite) == 0.0);
  CHECK(one(gelu_tanh_of{}, infinite) == infinite);
  CHECK(one(gelu_tanh_of{}, -infinite) == 0.0);
  CHECK(one(relu_of{}, -3.0) == 0.0);
  CHECK(one(relu_of{}, 1e300) == 1e300);
  CHECK(one(abs_of{}, -1e-310) == 1e-310);
  CHECK(!std::signbit(one(abs_of{}, -0.0)));
  CHECK(std::signbit(one(negate_of{}, 0.0)));
  CHECK(one(square_of{}, 1e100) == 1e200);
  CHECK(std::isnan(one(sqrt_of{}, -1.0)));
  const auto keeps_nan = [](auto f) { return std::isnan(one(f, not_a_number)); };
  CHECK(keeps_nan(exp_of{}));
  CHECK(keeps_nan(log_of{}));
  CHECK(keeps_nan(tanh_of{}));
  CHECK(keeps_nan(erf_of{}));
  CHECK(keeps_nan(sigmoid_of{}));
  CHECK(keeps_nan(silu_of{}));
  CHECK(keeps_nan(gelu_of{}));
  CHECK(keeps_nan(gelu_tanh_of{}));
  CHECK(keeps_nan(sin_of{}));
  CHECK(keeps_nan(cos_of{}));
  CHECK(keeps_nan(relu_of{}));
  CHECK(keeps_nan(abs_of{}));
}

}  // namespace
