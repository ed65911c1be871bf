// tests/kernels/optimiser.test.cpp -- optimiser.hpp against loops in long double.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/kernels/optimiser.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using namespace dimwise::kernels;
using exact = long double;
template <class T>
constexpr exact unit = exact{std::numeric_limits<T>::epsilon()} / 2;
template <class T>
using arch_for = std::conditional_t<std::is_same_v<T, double>, in_double<default_arch>, default_arch>;

template <class T>
std::vector<T> numbers(std::size_t n, unsigned seed, T low = -1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> even(low, T(1));
  std::vector<T> out(n + 1);
  for (T& x : out) x = even(random);
  out[n] = 777;  // a guard
  return out;
}

TEST_CASE_TEMPLATE("adam: moments and parameters of every extent", T, float, double) {
  for (std::size_t n = 0; n <= 70; ++n) {
    CAPTURE(n);
    const auto gradient = numbers<T>(n, 1);
    auto p = numbers<T>(n, 2);
    auto m = numbers<T>(n, 3);
    auto v = numbers<T>(n, 4, 0);
    const auto p0 = p;
    const auto m0 = m;
    const auto v0 = v;
    const adam_call_of<T> c{.n = n,
                            .gradient = gradient.data(),
                            .parameter = p.data(),
                            .first = m.data(),
                            .second = v.data(),
                            .decay = T(0.2),
                            .first_kept = T(0.9),
                            .first_added = T(0.1),
                            .second_kept = T(0.99),
                            .second_added = T(0.01),
                            .kept = T(0.95),
                            .size = T(0.03),
                            .root = T(1.7),
                            .epsilon = T(1e-3)};
    adam_step<arch_for<T>>(c);
    for (std::size_t i = 0; i < n; ++i) {
      const exact g = exact{gradient[i]} + exact{c.decay} * exact{p0[i]};
      const exact first = exact{c.first_kept} * exact{m0[i]} + exact{c.first_added} * g;
      const exact second = exact{c.second_kept} * exact{v0[i]} + exact{c.second_added} * g * g;
      const exact to =
          exact{c.kept} * exact{p0[i]} - exact{c.size} * first / (std::sqrt(second) * exact{c.root} + exact{c.epsilon});
      CHECK(std::abs(exact{m[i]} - first) <= 4 * unit<T>);
      CHECK(std::abs(exact{v[i]} - second) <= 8 * unit<T> * second + exact(0.015) * unit<T>);
      CHECK(std::abs(exact{p[i]} - to) <= 4 * unit<T> + 160 * unit<T> * std::abs(to - exact{c.kept} * exact{p0[i]}));
    }
    CHECK((p[n] == 777 && m[n] == 777 && v[n] == 777));
  }
}

TEST_CASE_TEMPLATE("adam: a gradient of 0 with moments of 0 moves nothing but by decay", T, float, double) {
  const std::vector<T> zero(5, T(0));
  std::vector<T> p(5, T(2));
  std::vector<T> m(5, T(0));
  std::vector<T> v(5, T(0));
  adam_call_of<T> c;
  c.n = 5;
  c.gradient = zero.data();
  c.parameter = p.data();
  c.first = m.data();
  c.second = v.data();
  c.kept = T(0.5);
  c.size = 1;
  c.epsilon = T(1e-8);
  adam_step<arch_for<T>>(c);
  for (const T x : p) CHECK(x == 1);
}

TEST_CASE_TEMPLATE("sum_of_squares: exact squares, large and small numbers", T, float, double) {
  for (std::size_t n = 0; n <= 140; ++n) {
    CAPTURE(n);
    auto x = numbers<T>(n, 5);
    if (n > 2) {
      x[0] = T(3.0e30);  // its square is not a float
      x[n - 1] = T(-1e-30);
    }
    exact truth = 0;
    for (std::size_t i = 0; i < n; ++i) truth += exact{x[i]} * exact{x[i]};
    CHECK(std::abs(exact{sum_of_squares<arch_for<T>>(n, x.data())} - truth) <= exact(1e-14) * truth);
  }
  const T infinite = std::numeric_limits<T>::infinity();
  CHECK(std::isinf(sum_of_squares<arch_for<T>>(1, &infinite)));
}

}  // namespace
