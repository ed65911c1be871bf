// tests/kernels/exp.test.cpp -- exp_nonpositive against std::exp in double, for every float <= 0.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/kernels/exp.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace {

namespace kernels = dimwise::kernels;
using arch = kernels::default_arch;
using vec = kernels::floats<arch>;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::uint32_t minus_zero = 0x80000000U;
constexpr std::uint32_t minus_infinity = 0xFF800000U;

float exp_one(float x) { return kernels::exp_nonpositive<arch>(vec(x)).get(0); }

// Distance from the true value in units of the last place of a float near it.
double ulps(float got, double truth) {
  const int exponent = std::ilogb(truth);
  return std::abs(double{got} - truth) / std::ldexp(1.0, exponent - 23);
}

TEST_CASE("exp_nonpositive: exact values") {
  CHECK(exp_one(0.0F) == 1.0F);
  CHECK(exp_one(-0.0F) == 1.0F);
  CHECK(std::bit_cast<std::uint32_t>(exp_one(-infinity)) == 0U);
  CHECK(exp_one(-std::numeric_limits<float>::max()) == 0.0F);
  CHECK(std::isnan(exp_one(std::numeric_limits<float>::quiet_NaN())));
  CHECK(std::isnan(exp_one(-std::numeric_limits<float>::quiet_NaN())));
  // Whatever the other bits of a NaN are, as in memory without initial values.
  for (std::uint32_t low = 0; low < 0x400000U; low += 0xFFFU) {
    CHECK(std::isnan(exp_one(std::bit_cast<float>(0x7FC00000U + low))));
    CHECK(std::isnan(exp_one(std::bit_cast<float>(0xFFC00000U + low))));
  }
}

TEST_CASE("exp_nonpositive: 3 ulp for every float down to the last normal result, 0 below") {
  double worst = 0.0;
  float worst_at = 0.0F;
  std::uint64_t wrong_flush = 0;
  alignas(64) float in[kernels::lanes<arch>];
  alignas(64) float out[kernels::lanes<arch>];
  for (std::uint64_t start = minus_zero; start <= minus_infinity; start += kernels::lanes<arch>) {
    for (std::size_t i = 0; i < kernels::lanes<arch>; ++i) {
      const std::uint64_t bits = start + i < minus_infinity ? start + i : minus_infinity;
      in[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    }
    kernels::store<arch>(out, kernels::exp_nonpositive<arch>(kernels::load<arch>(in)));
    for (std::size_t i = 0; i < kernels::lanes<arch>; ++i) {
      if (in[i] < -87.3365402F) {
        wrong_flush += std::bit_cast<std::uint32_t>(out[i]) != 0U ? 1 : 0;
      } else if (in[i] > -1.0e-9F) {
        wrong_flush += out[i] != 1.0F ? 1 : 0;  // nearest float to the true value; saves a billion calls of std::exp
      } else {
        const double error = ulps(out[i], std::exp(double{in[i]}));
        if (error > worst) worst = error, worst_at = in[i];
      }
    }
  }
  CAPTURE(worst_at);
  CHECK(worst <= 3.0);
  CHECK(wrong_flush == 0);
}

}  // namespace
