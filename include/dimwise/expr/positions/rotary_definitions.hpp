// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/positions/rotary_definitions.hpp -- the angles that rotary turns by.
//
// Layer: expr. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/expr/positions/positions.test.cpp, tests/nn/rotary_scaling.test.cpp, tests/compile_fail/positions/
#pragma once

#include <dimwise/expr/positions/rotary.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace dimwise {

namespace detail {

// Each scaling of base^(−2i/n), and of cosines and sines.
struct scaled_frequency {
  double base;
  double pair;
  double features;

  [[nodiscard]] double unscaled(double by) const { return std::pow(by, -2.0 * pair / features); }
  // A factor, or a number of positions, that is not positive gives no angle, even if a scaling leaves this pair alone.
  [[nodiscard]] static double by(double factor, double angle) { return factor > 0 ? angle : std::nan(""); }
  [[nodiscard]] double operator()(const no_scaling&) const { return unscaled(base); }
  [[nodiscard]] double operator()(const linear_scaling& s) const { return by(s.factor, unscaled(base) / s.factor); }
  [[nodiscard]] double operator()(const ntk_scaling& s) const {
    // Two features have one frequency, base^0.
    return by(s.factor, features <= 2 ? 1.0 : unscaled(base * std::pow(s.factor, features / (features - 2))));
  }
  [[nodiscard]] double operator()(const yarn_scaling& s) const {
    const double first = pair_turning(s.fast, s.trained);
    const double last = pair_turning(s.slow, s.trained);
    const double low = std::max(s.whole_pairs ? std::floor(first) : first, 0.0);
    double high = std::min(s.whole_pairs ? std::ceil(last) : last, features - 1);
    if (low == high) { high += 0.001; }
    const double ramp = std::min(std::max((pair - low) / (high - low), 0.0), 1.0);
    return by(std::min(s.factor, s.trained), unscaled(base) * (1 - ramp) + unscaled(base) / s.factor * ramp);
  }
  [[nodiscard]] double operator()(const llama3_scaling& s) const {
    const double own = unscaled(base);
    const double turns = s.trained * own / (2 * pi);  // in the positions of training
    if (turns >= s.high) { return by(std::min(s.factor, s.trained), own); }
    if (turns <= s.low) { return by(std::min(s.factor, s.trained), own / s.factor); }
    const double share = (turns - s.low) / (s.high - s.low);
    return by(std::min(s.factor, s.trained), own / s.factor * (1 - share) + own * share);
  }

 private:
  static constexpr double pi = 3.14159265358979323846;
  // The pair, a real number, that turns so many times in so many positions.
  [[nodiscard]] double pair_turning(double turns, double positions) const {
    return features * std::log(positions / (turns * 2 * pi)) / (2 * std::log(base));
  }
};

}  // namespace detail

namespace no_adl {

DIMWISE_DETAIL_LIBRARY double rotary_frequency(std::size_t pair, std::size_t features, const rotary_options& options) {
  const double angle =
      std::visit(detail::scaled_frequency{options.base, static_cast<double>(pair), static_cast<double>(features)},
                 options.scaling);
  if (!(options.base > 0) || !(angle >= 0 && angle <= std::numeric_limits<double>::max())) {
    detail::raise<number_error>(error{} << "rotary: the base is " << options.base << " and the scaled angle of pair "
                                        << pair << " is " << angle
                                        << ", finite numbers of more than 0 are expected (R9)");
  }
  return angle;
}

DIMWISE_DETAIL_LIBRARY double rotary_attention(const rotary_options& options) {
  const auto* yarn = std::get_if<yarn_scaling>(&options.scaling);
  if (yarn == nullptr) { return 1; }
  return yarn->attention != 0 ? yarn->attention : (yarn->factor <= 1 ? 1.0 : 0.1 * std::log(yarn->factor) + 1);
}

}  // namespace no_adl

}  // namespace dimwise
