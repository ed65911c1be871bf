// tests/eval/special_values/special_values.hpp -- puts NaN, infinities, zeros and subnormals at chosen elements, and
// compares kernels, the scalar path and float64.
//
// docs/reference/special_values.md states the results that these tests check.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "support/numbers.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace special {

using namespace dimwise;
using dimwise_test::counts;
using dimwise_test::drawn;
using dimwise_test::float32;
using dimwise_test::infinite;
using dimwise_test::not_a_number;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};

inline const double tolerance = float32(400);

// A NaN that an operation gives, and one with low bits, as data that was never written may hold.
inline constexpr std::uint32_t nan_with_low_bits = 0x7FC00001U;

/// The special values; `large` is the largest of which the formula's sums are still numbers.
inline std::vector<float> numbers(float large) {
  return {not_a_number,
          std::bit_cast<float>(nan_with_low_bits),
          std::bit_cast<float>(0xFFFFFFFFU),
          infinite,
          -infinite,
          -0.0F,
          large,
          -large,
          std::numeric_limits<float>::denorm_min(),
          -1e-40F};
}

inline const char* class_of(double x) {
  return std::isnan(x) ? "NaN" : std::isinf(x) ? (x < 0 ? "-inf" : "inf") : "a number";
}

/// The first element in which two results differ: in its class, or by more than the tolerance. Results next to the
/// largest number are not compared: a sum may overflow in one order and not in another.
template <class A, class B>
[[nodiscard]] std::string unlike(const A& a, const B& b) {
  if (a.size() != b.size()) { return "sizes " + std::to_string(a.size()) + " and " + std::to_string(b.size()); }
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a.values()[i]);
    const auto y = static_cast<double>(b.values()[i]);
    const auto near_the_largest = [](double z) { return std::isfinite(z) && std::abs(z) > 1e37; };
    if (near_the_largest(x) || near_the_largest(y)) { continue; }
    const bool numbers = std::isfinite(x) && std::isfinite(y);
    if (numbers ? std::abs(x - y) > tolerance * (1 + std::abs(y)) : std::string(class_of(x)) != class_of(y)) {
      std::ostringstream text;
      text << "element " << i << " of " << a.size() << ": " << x << " and " << y;
      return text.str();
    }
  }
  return {};
}

/// Where the ways of evaluating `e` disagree, or that another plan than `kind` ran.
template <class E>
[[nodiscard]] std::string disagreement(const E& e, plan_kind kind) {
  reset_plans();
  const auto fast = evaluate(e);
  const bool ran = !kernels::available || fast.size() == 0 || plans_run()[kind] > 0;
  if (!ran) { return std::string("not run as ") + name_of(kind); }
  const auto exact = reference(e);
  std::string wrong = unlike(fast, exact);
  if (!wrong.empty()) { return "kernels and float64: " + wrong; }
  wrong = unlike(evaluate_plainly(e), exact);
  return wrong.empty() ? wrong : "scalar path and float64: " + wrong;
}

/// The elements of a tensor, for writing.
template <class T>
std::span<float> elements(T& x) {
  return {x.data(), x.size()};
}

/// The first, the last, and some between.
inline std::vector<std::size_t> places(std::size_t n) {
  std::vector<std::size_t> at;
  for (const std::size_t i : {std::size_t{0}, n / 3, n / 2 + 1, n - 1}) {
    if (i < n && (at.empty() || at.back() < i)) { at.push_back(i); }
  }
  return at;
}

/// Replaces single elements of `x` by `number`, calls `check(element)` each time, and restores them from `original`.
template <class Tensor, class Check>
void replace_each(Tensor& x, const Tensor& original, float number, const Check& check) {
  for (const std::size_t at : places(x.size())) {
    elements(x)[at] = number;
    check(at);
    elements(x)[at] = original.values()[at];
  }
}

}  // namespace special
