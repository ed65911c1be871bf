// tests/expr/elements/functions.test.cpp -- activations and elementary functions against the standard library in
// double.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numbers>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::tensor;

// From −24 to 24, denser near 0, and the ends of the range of exp.
tensor<double, seq> places() {
  std::vector<double> x;
  for (int i = -96; i <= 96; ++i) { x.push_back(i * std::abs(i) / 384.0); }
  x.insert(x.end(), {-80, 80, -0.0, 1e-7, -1e-7});
  return tensor<double, seq>(x, seq{x.size()});
}

double phi(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// A function of the library in float and in double, and the same in double by the standard library. Errors count in
// units of the last place of the result, or of the argument where it is larger (x Φ(x) cancels for negative x).
template <class F>
std::string follows(F f, const std::function<double(double)>& expected, double roundings,
                    const tensor<double, seq>& x = places()) {
  const tensor<double, seq> y = f(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double at = x.values()[i];
    if (!within(y.values()[i], expected(at), 1e-14 * (1 + std::abs(at)))) { return "double at " + std::to_string(at); }
    const auto narrow_at = static_cast<float>(at);
    const tensor<float, seq> single = f(tensor<float, seq>({narrow_at}, seq{1}));
    if (!within(el(single, 0), expected(narrow_at), float32(roundings) * (1 + std::abs(at)))) {
      return "float at " + std::to_string(at);
    }
  }
  return {};
}

}  // namespace

TEST_CASE("functions: those of the standard library") {
  const auto positive = tensor<double, seq>(dimwise::exp(places() / 4.0));
  CHECK(follows([](const auto& x) { return dimwise::exp(x); }, [](double x) { return std::exp(x); }, 2) == "");
  CHECK(follows([](const auto& x) { return dimwise::tanh(x); }, [](double x) { return std::tanh(x); }, 2) == "");
  CHECK(follows([](const auto& x) { return dimwise::erf(x); }, [](double x) { return std::erf(x); }, 2) == "");
  CHECK(follows([](const auto& x) { return dimwise::sin(x); }, [](double x) { return std::sin(x); }, 2) == "");
  CHECK(follows([](const auto& x) { return dimwise::cos(x); }, [](double x) { return std::cos(x); }, 2) == "");
  CHECK(follows([](const auto& x) { return dimwise::log(x); }, [](double x) { return std::log(x); }, 2, positive) ==
        "");
  CHECK(follows([](const auto& x) { return dimwise::sqrt(x); }, [](double x) { return std::sqrt(x); }, 1, positive) ==
        "");
  CHECK(follows([](const auto& x) { return dimwise::abs(x); }, [](double x) { return std::abs(x); }, 0) == "");
  CHECK(follows([](const auto& x) { return dimwise::square(x); }, [](double x) { return x * x; }, 1) == "");
}

TEST_CASE("functions: activations by their formulas") {
  const auto sigma = [](double x) { return 1 / (1 + std::exp(-x)); };
  CHECK(follows([](const auto& x) { return dimwise::relu(x); }, [](double x) { return std::fmax(x, 0); }, 0) == "");
  CHECK(follows([](const auto& x) { return dimwise::sigmoid(x); }, sigma, 3) == "");
  CHECK(follows([](const auto& x) { return dimwise::softplus(x); }, [](double x) { return std::log1p(std::exp(x)); },
                3) == "");
  CHECK(follows([](const auto& x) { return dimwise::silu(x); }, [&](double x) { return x * sigma(x); }, 4) == "");
  CHECK(follows([](const auto& x) { return dimwise::gelu(x); }, [](double x) { return x * phi(x); }, 4) == "");
  CHECK(follows([](const auto& x) { return dimwise::gelu_tanh(x); }, [](double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  }, 8) == "");
}

TEST_CASE("functions: what is not finite") {
  const tensor<float, seq> x({not_a_number, infinite, -infinite}, seq{3});
  const auto same = [](const tensor<float, seq>& y, double a, double b, double c) {
    return differences(y, {3}, 0, [&](auto i) { return i == 0 ? a : i == 1 ? b : c; });
  };
  CHECK(same(dimwise::relu(x), not_a_number, infinite, 0) == "");
  CHECK(same(dimwise::sigmoid(x), not_a_number, 1, 0) == "");
  CHECK(same(dimwise::exp(x), not_a_number, infinite, 0) == "");
  CHECK(same(dimwise::tanh(x), not_a_number, 1, -1) == "");
  CHECK(same(dimwise::abs(x), not_a_number, infinite, infinite) == "");
  CHECK(std::isnan(el(tensor<float, seq>(dimwise::gelu(x)), 0)));
  CHECK(std::isnan(el(tensor<float, seq>(dimwise::silu(x)), 0)));
}
