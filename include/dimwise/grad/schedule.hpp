// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/schedule.hpp -- the learning rate of each step.
//
// Layer: grad. A schedule is a function of the step, counted from 0: a number, one of these, or a user's own.
// Tests: tests/grad/training/optimiser.test.cpp
//
//   adamw optimiser(model, {.rate = warm_up_cosine{.peak = 3e-4, .warm_up = 100, .steps = 2000, .min_rate = 3e-5}});
#pragma once

#include <dimwise/dim/error.hpp>
#include <dimwise/support/math.hpp>
#include <dimwise/tensor/memory/owner.hpp>

#include <cstdint>
#include <numbers>
#include <type_traits>

namespace dimwise {

/// From `from` to `to` in equal differences over so many steps, and `to` from then on.
struct linear_rate {
  double from = 0;
  double to = 0;
  std::uint64_t steps = 1;

  [[nodiscard]] double operator()(std::uint64_t step) const {
    const double part = step >= steps ? 1.0 : static_cast<double>(step) / static_cast<double>(steps);
    return from + (to - from) * part;
  }
};

/// `warm_up` steps up to the peak, the first of which has peak / warm_up; then half a cosine down to `min_rate`, which
/// is reached after `steps` (Loshchilov and Hutter 2017). A training of fewer steps than `warm_up` ends on the way up.
/// Throws `number_error` without `steps`.
struct warm_up_cosine {
  double peak = 0;
  std::uint64_t warm_up = 0;
  std::uint64_t steps = 0;
  double min_rate = 0;

  [[nodiscard]] double operator()(std::uint64_t step) const {
    if (steps == 0) {
      detail::raise<number_error>(error{} << "warm_up_cosine: the number of steps is 0, set `.steps`");
    }
    if (step < warm_up) { return peak * static_cast<double>(step + 1) / static_cast<double>(warm_up); }
    if (step >= steps) { return min_rate; }
    const double part = static_cast<double>(step - warm_up) / static_cast<double>(steps - warm_up);
    return min_rate + (peak - min_rate) * (1 + detail::math::cos(std::numbers::pi * part)) / 2;
  }
};

/// The rate of each step: a number, which is the same for all, or a function of the step.
class learning_rate {
 public:
  /// The same rate at every step, or a function from the number of the step to the rate.
  learning_rate(double rate) : of_([rate](std::uint64_t) { return rate; }) {}  // implicit: `.rate = 1e-3`
  template <class Schedule>
    requires std::is_invocable_r_v<double, const Schedule&, std::uint64_t>
  learning_rate(const Schedule& schedule) : of_(schedule) {}  // implicit: `.rate = warm_up_cosine{…}`
  /// Throws `number_error` where the function is empty.
  [[nodiscard]] double operator()(std::uint64_t step) const {
    if (!of_) { detail::raise<number_error>(error{} << "learning_rate: a function was expected, it is empty"); }
    return of_(step);
  }

 private:
  detail::function_copy<double(std::uint64_t)> of_;
};

}  // namespace dimwise
