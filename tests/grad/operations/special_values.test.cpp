// SPDX-License-Identifier: BSL-1.0
// Values and derivatives of functions and losses at infinities, zeros of both signs, NaN and numbers near the largest
// and the smallest: by the kernels and the reference, in float and in double, against limits written out here.
#include "grad/nodes.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace grad_tests;

namespace {

struct place : position_dim<> {};

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// −∞, −huge, −large, −0, 0, large, huge, ∞, NaN; `huge` is near the largest number of the type.
template <class T>
tensor<T, place> places() {
  using limits = std::numeric_limits<T>;
  const T huge = limits::max() / 4;
  const T large = T(1e20);
  std::vector<T> x{-limits::infinity(), -huge, -large, T(-0.0), T(0), large, huge, limits::infinity(),
                   limits::quiet_NaN()};
  x.resize(32, T(0.5));  // as many as a kernel takes
  return tensor<T, place>(x, place{x.size()});
}

bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) { return std::isnan(a) && std::isnan(b); }
  if (std::isinf(a) || std::isinf(b)) { return a == b; }
  return a == b || std::abs(a - b) <= 1e-6 * std::abs(b);
}

// `x`: the number itself; `free`: not looked at, as sin of a large number is whatever it is.
constexpr double x_itself = 12345;
constexpr double twice_x = 23456;
constexpr double minus_x = 34567;
constexpr double free_ = 45678;

struct expected {
  double value[9];
  double slope[9];
};

template <class T, class F>
void check_in(const char* name, const F& f, const expected& e) {
  const auto x = places<T>();
  const tensor<T, place> y = f(x);
  const auto g = gradient(x, [&](const auto& m) { return sum<place>(f(m)); });
  for (std::size_t i = 0; i < 9; ++i) {
    INFO(std::string(name), " at ", x.data()[i], ", bytes of a number: ", sizeof(T));
    const auto number = [&](double told) {
      const auto at = static_cast<double>(x.data()[i]);
      return told == x_itself ? at : told == twice_x ? 2 * at : told == minus_x ? -at : told;
    };
    if (e.value[i] != free_) { CHECK(same(static_cast<double>(y.data()[i]), number(e.value[i]))); }
    if (e.slope[i] != free_) { CHECK(same(static_cast<double>(g.data()[i]), number(e.slope[i]))); }
  }
}
template <class F>
void check(const char* name, const F& f, const expected& e) {
  check_in<float>(name, f, e);
  check_in<double>(name, f, e);
  const plain_loops only;
  check_in<float>(name, f, e);
}

#define CHECK_FUNCTION(word, ...) check(#word, [](const auto& m) { return word(m); }, __VA_ARGS__)

}  // namespace

TEST_CASE("functions and their derivatives at the ends of the numbers") {
  constexpr double x = x_itself;
  const expected gate{{0, 0, 0, 0, 0, x, x, inf, not_a_number}, {0, 0, 0, 0.5, 0.5, 1, 1, 1, not_a_number}};
  CHECK_FUNCTION(gelu, gate);
  CHECK_FUNCTION(gelu_tanh, gate);
  CHECK_FUNCTION(silu, gate);
  const double log_2 = 0.6931471805599453;
  CHECK_FUNCTION(softplus,
                 {{0, 0, 0, log_2, log_2, x, x, inf, not_a_number}, {0, 0, 0, 0.5, 0.5, 1, 1, 1, not_a_number}});
  CHECK_FUNCTION(relu, {{0, 0, 0, 0, 0, x, x, inf, not_a_number}, {0, 0, 0, 0, 0, 1, 1, 1, not_a_number}});
  CHECK_FUNCTION(sigmoid, {{0, 0, 0, 0.5, 0.5, 1, 1, 1, not_a_number}, {0, 0, 0, 0.25, 0.25, 0, 0, 0, not_a_number}});
  CHECK_FUNCTION(tanh, {{-1, -1, -1, 0, 0, 1, 1, 1, not_a_number}, {0, 0, 0, 1, 1, 0, 0, 0, not_a_number}});
  const double bell = 1.1283791670955126;
  CHECK_FUNCTION(erf, {{-1, -1, -1, 0, 0, 1, 1, 1, not_a_number}, {0, 0, 0, bell, bell, 0, 0, 0, not_a_number}});
  CHECK_FUNCTION(exp, {{0, 0, 0, 1, 1, inf, inf, inf, not_a_number}, {0, 0, 0, 1, 1, inf, inf, inf, not_a_number}});
  CHECK_FUNCTION(log, {{not_a_number, not_a_number, not_a_number, -inf, -inf, std::log(1e20), free_, inf, not_a_number},
                       {free_, free_, free_, inf, inf, 1e-20, free_, 0, not_a_number}});
  CHECK_FUNCTION(sqrt, {{not_a_number, not_a_number, not_a_number, 0, 0, 1e10, free_, inf, not_a_number},
                        {not_a_number, not_a_number, not_a_number, inf, inf, 5e-11, free_, 0, not_a_number}});
  CHECK_FUNCTION(abs,
                 {{inf, minus_x, minus_x, 0, 0, x, x, inf, not_a_number}, {-1, -1, -1, 0, 0, 1, 1, 1, not_a_number}});
  CHECK_FUNCTION(square, {{inf, inf, free_, 0, 0, free_, inf, inf, not_a_number},
                          {-inf, twice_x, twice_x, 0, 0, twice_x, twice_x, inf, not_a_number}});
  CHECK_FUNCTION(sin, {{not_a_number, free_, free_, 0, 0, free_, free_, not_a_number, not_a_number},
                       {not_a_number, free_, free_, 1, 1, free_, free_, not_a_number, not_a_number}});
  CHECK_FUNCTION(cos, {{not_a_number, free_, free_, 1, 1, free_, free_, not_a_number, not_a_number},
                       {not_a_number, free_, free_, 0, 0, free_, free_, not_a_number, not_a_number}});
  CHECK_FUNCTION(
      -, {{inf, minus_x, minus_x, 0, 0, minus_x, minus_x, -inf, not_a_number}, {-1, -1, -1, -1, -1, -1, -1, -1, -1}});
}

TEST_CASE("derivatives that vanish keep their digits, a quotient by a large number has a derivative") {
  const auto check_at = [](auto number) {
    using T = decltype(number);
    const tensor<T, place> x({T(20), T(-20)}, place{2});
    const double slope = std::exp(-20.0) / std::pow(1 + std::exp(-20.0), 2);
    const auto s = gradient(x, [](const auto& m) { return sum<place>(sigmoid(m)); });
    const auto t = gradient(x, [](const auto& m) { return sum<place>(tanh(m * T(0.5))); });
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(same(static_cast<double>(s.data()[i]), slope));
      CHECK(same(static_cast<double>(t.data()[i]), 2 * slope));
    }
    const tensor<T, place> b({T(1e30)}, place{1});
    const auto q = gradient(b, [](const auto& m) { return sum<place>(T(1e30) / m); });
    CHECK(same(static_cast<double>(q.data()[0]), -1e-30));
    const tensor<T, place> y({T(-1)}, place{1});
    const auto p = gradient(y, [](const auto& m) { return sum<place>(pow(std::numeric_limits<T>::infinity(), m)); });
    CHECK(p.data()[0] == 0);
  };
  check_at(1.0F);
  check_at(1.0);
  const plain_loops only;
  check_at(1.0F);
}

TEST_CASE("binary cross-entropy of sure logits") {
  const auto check_in = [](auto number) {
    using T = decltype(number);
    const T oo = std::numeric_limits<T>::infinity();
    const T large = T(1e30);
    const tensor<T, place> x({oo, -oo, oo, -oo, large, -large, T(20), T(0.5)}, place{8});
    const tensor<T, place> y({T(1), T(0), T(0), T(1), T(1), T(0), T(1), T(0.25)}, place{8});
    const double at_20 = std::log1p(std::exp(-20.0));
    const double at_half = std::log1p(std::exp(0.5)) - 0.125;
    const double values[] = {0, 0, inf, inf, 0, 0, at_20, at_half};
    const double slopes[] = {0, 0, 1, -1, 0, 0, -1 / (1 + std::exp(20.0)), 1 / (1 + std::exp(-0.5)) - 0.25};
    for (std::size_t i = 0; i < 8; ++i) {
      CAPTURE(i);
      const tensor<T, place> one_x({x.data()[i]}, place{1});
      const tensor<T, place> one_y({y.data()[i]}, place{1});
      const auto plain = value_and_gradient(one_x, [&](const auto& m) { return binary_cross_entropy(m, one_y); });
      CHECK(same(static_cast<double>(plain.value), values[i]));
      CHECK(same(static_cast<double>(plain.gradient.data()[0]), slopes[i]));
      const tensor<T> two(T(2));
      const auto weighed = value_and_gradient(
          one_x, [&](const auto& m) { return binary_cross_entropy(m, one_y, positive_weight(two)); });
      const double p = 1 + static_cast<double>(one_y.data()[0]);
      if (y.data()[i] == 0 || y.data()[i] == 1) {
        CHECK(same(static_cast<double>(weighed.value), p * values[i]));
        CHECK(same(static_cast<double>(weighed.gradient.data()[0]), p * slopes[i]));
      }
    }
  };
  check_in(1.0F);
  check_in(1.0);
}

TEST_CASE("kl_divergence: a teacher that learns excludes a class") {
  const auto check_in = [](auto number) {
    using T = decltype(number);
    struct four : choice_dim<4> {};
    const T oo = std::numeric_limits<T>::infinity();
    const auto run = [&](T excluded) {
      const tensor<T, batch, four> student({T(0), T(1), excluded, T(0)}, batch{1});
      const tensor<T, batch, four> teacher({T(0), T(2), -oo, T(0)}, batch{1});
      const auto constant = value_and_gradient(student, [&](const auto& m) { return kl_divergence<four>(m, teacher); });
      const auto both = value_and_gradient(std::tuple(student, teacher), [&](const auto& m) {
        return kl_divergence<four>(std::get<0>(m), std::get<1>(m));
      });
      CHECK(std::isfinite(constant.value));
      CHECK(static_cast<double>(both.value) == doctest::Approx(static_cast<double>(constant.value)).epsilon(1e-5));
      for (std::size_t i = 0; i < 4; ++i) {
        CHECK(same(static_cast<double>(std::get<0>(both.gradient).data()[i]) + 1,
                   static_cast<double>(constant.gradient.data()[i]) + 1));
        CHECK(std::isfinite(std::get<1>(both.gradient).data()[i]));
      }
      CHECK(std::get<1>(both.gradient).data()[2] == 0);
    };
    run(T(0.5));
    run(-oo);  // the student excludes it as well
  };
  check_in(1.0F);
  check_in(1.0);
  const plain_loops only;
  check_in(1.0F);
}

TEST_CASE("norms and clipping of the largest and the smallest gradients") {
  const auto check_in = [](auto number) {
    using T = decltype(number);
    using limits = std::numeric_limits<T>;
    for (const T size : {limits::max(), limits::max() / 1024, T(1), limits::min(), limits::denorm_min() * 4}) {
      CAPTURE(size);
      tensor<T, place> g(place{16});
      for (std::size_t i = 0; i < 16; ++i) { g.overwrite()[i] = i % 2 == 0 ? size : -size / 2; }
      const double factor = std::sqrt(8 * 1.25);
      if (static_cast<double>(size) < 1e300 && static_cast<double>(size) > 1e-300) {  // the norm is a normal number
        CHECK(std::abs(norm_of(g) / static_cast<double>(size) / factor - 1) < 1e-14);
      }
      const auto clipped = clip_norm(g, 2.0);
      const bool within = static_cast<double>(size) * factor <= 2;
      for (std::size_t i = 0; i < 16; ++i) {
        const double share = within ? static_cast<double>(size) : 2 / factor;
        CHECK(same(static_cast<double>(clipped.data()[i]), i % 2 == 0 ? share : -share / 2));
      }
    }
    tensor<T, place> g(place{2});
    CHECK(norm_of(g) == 0);
    const auto zeros_stay = clip_norm(g, 1.0);
    CHECK(zeros_stay.data()[0] == 0);
    g.overwrite()[0] = limits::infinity();
    CHECK(norm_of(g) == inf);
    g.overwrite()[1] = limits::quiet_NaN();
    CHECK(std::isnan(norm_of(g)));
  };
  check_in(1.0F);
  check_in(1.0);
  const plain_loops only;
  check_in(1.0F);
}

TEST_CASE("cumsum: the gradient of a small number beside large ones") {
  const tensor<float, place> x(place{4});
  const auto through = [&](const tensor<float, place>& g) {
    return gradient(x, [&](const auto& m) { return sum<place>(cumsum<place>(m) * g); });
  };
  const auto sums = through(tensor<float, place>({1e10F, 1.0F, 2.0F, 4.0F}, place{4}));
  CHECK(sums.data()[0] == 1e10F);
  CHECK(sums.data()[1] == 7.0F);
  CHECK(sums.data()[2] == 6.0F);
  CHECK(sums.data()[3] == 4.0F);
  const auto infinite =
      through(tensor<float, place>({1.0F, std::numeric_limits<float>::infinity(), 2.0F, 4.0F}, place{4}));
  CHECK(infinite.data()[1] == std::numeric_limits<float>::infinity());
  CHECK(infinite.data()[2] == 6.0F);
}
