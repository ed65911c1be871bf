// tests/kernels/optimiser.test.cpp -- optimiser.hpp against loops in double.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/kernels/optimiser.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace dimwise::kernels;
constexpr double unit = 1.0 / (1 << 24);

std::vector<float> numbers(std::size_t n, unsigned seed, float low = -1.0F) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> even(low, 1.0F);
  std::vector<float> out(n + 1);
  for (float& x : out) x = even(random);
  out[n] = 777.0F;  // a guard
  return out;
}

TEST_CASE("adam: moments and parameters of every extent") {
  for (std::size_t n = 0; n <= 70; ++n) {
    CAPTURE(n);
    const auto gradient = numbers(n, 1);
    auto p = numbers(n, 2);
    auto m = numbers(n, 3);
    auto v = numbers(n, 4, 0.0F);
    const auto p0 = p;
    const auto m0 = m;
    const auto v0 = v;
    const adam_call c{.n = n,
                      .gradient = gradient.data(),
                      .parameter = p.data(),
                      .first = m.data(),
                      .second = v.data(),
                      .decay = 0.2F,
                      .first_kept = 0.9F,
                      .first_added = 0.1F,
                      .second_kept = 0.99F,
                      .second_added = 0.01F,
                      .kept = 0.95F,
                      .size = 0.03F,
                      .root = 1.7F,
                      .epsilon = 1e-3F};
    adam_step(c);
    for (std::size_t i = 0; i < n; ++i) {
      const double g = gradient[i] + double{c.decay} * p0[i];
      const double first = double{c.first_kept} * m0[i] + double{c.first_added} * g;
      const double second = double{c.second_kept} * v0[i] + double{c.second_added} * g * g;
      const double to = double{c.kept} * p0[i] - c.size * first / (std::sqrt(second) * c.root + c.epsilon);
      CHECK(std::abs(m[i] - first) <= 4 * unit);
      CHECK(std::abs(v[i] - second) <= 8 * unit * second + 1e-9);
      CHECK(std::abs(p[i] - to) <= 4 * unit + 1e-5 * std::abs(to - c.kept * p0[i]));
    }
    CHECK((p[n] == 777.0F && m[n] == 777.0F && v[n] == 777.0F));
  }
}

TEST_CASE("adam: a gradient of 0 with moments of 0 moves nothing but by decay") {
  const std::vector<float> zero(5, 0.0F);
  std::vector<float> p(5, 2.0F);
  std::vector<float> m(5, 0.0F);
  std::vector<float> v(5, 0.0F);
  adam_call c;
  c.n = 5;
  c.gradient = zero.data();
  c.parameter = p.data();
  c.first = m.data();
  c.second = v.data();
  c.kept = 0.5F;
  c.size = 1.0F;
  c.epsilon = 1e-8F;
  adam_step(c);
  for (const float x : p) CHECK(x == 1.0F);
}

TEST_CASE("sum_of_squares: exact squares, large and small numbers") {
  for (std::size_t n = 0; n <= 140; ++n) {
    CAPTURE(n);
    auto x = numbers(n, 5);
    if (n > 2) {
      x[0] = 3.0e30F;  // its square is no float
      x[n - 1] = -1e-30F;
    }
    double truth = 0;
    for (std::size_t i = 0; i < n; ++i) truth += double{x[i]} * double{x[i]};
    CHECK(std::abs(sum_of_squares(n, x.data()) - truth) <= 1e-14 * truth);
  }
  const float infinite = std::numeric_limits<float>::infinity();
  CHECK(std::isinf(sum_of_squares(1, &infinite)));
}

}  // namespace
