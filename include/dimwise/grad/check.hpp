// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/check.hpp -- a gradient compared with central differences.
//
// Layer: grad.
// Tests: tests/grad/
//
//   const auto check = check_gradient(model, loss);
//   if (check.error > 1e-8) { std::cerr << check.where << ": " << check.gradient << " against " << check.difference; }
#pragma once

#include <dimwise/grad/gradient.hpp>
#include <dimwise/nn/dropout.hpp>

#include <algorithm>
#include <cmath>

namespace dimwise {

/// The place where a gradient is farthest from the difference of losses.
struct gradient_check {
  double error = 0;   ///< |gradient − difference| there, over the largest gradient of that parameter
  std::string where;  ///< the parameter's name and the element's number in memory order
  double gradient = 0;
  double difference = 0;
  std::size_t elements = 0;  ///< how many elements were compared
};

/// How `check_gradient` compares: the step of the differences, and how many elements of each parameter, spread evenly
/// (0: all).
struct check_options {
  double step = 1e-3;
  std::size_t elements = 0;
};

namespace no_adl {

/// Compares the gradient with differences of fourth order, (8(f(x+h) − f(x−h)) − (f(x+2h) − f(x−2h))) / 12h, in float64
/// whatever the model's type. `loss` takes the model with elements of double and of tracked double, so it is generic.
/// Throws `gradient_error` where a dropout left out: plain elements go through dropouts as they are, so the differences
/// are those of another loss.
template <class M, class Loss>
[[nodiscard]] gradient_check check_gradient(const M& model, const Loss& loss, const check_options& options = {}) {
  auto at = converted<double>(model);
  const std::uint64_t drawn = nn::detail::dropouts_drawn();
  const auto expected = gradient(at, loss);
  if (drawn != nn::detail::dropouts_drawn()) {
    detail::raise<gradient_error>(
        error{}
        << "check_gradient: a dropout left out elements, and leaves out none where differences are taken; check "
           "the model with a probability of 0");
  }
  const auto value = [&] { return static_cast<double>(tensor<double>(detail::one_number(loss(std::as_const(at))))); };
  gradient_check worst;
  const auto largest_of = [](const auto& g) {
    double largest = 0;
    for (std::size_t i = 0; i < g.size(); ++i) { largest = std::max(largest, std::abs(g.data()[i])); }
    return largest;
  };
  // A difference of losses has the rounding errors of the whole loss.
  double floor = 1e-6;
  for_each_parameter_of([&](const std::string&, const auto& g) { floor = std::max(floor, 1e-3 * largest_of(g)); },
                        expected);
  for_each_parameter_of([&](const std::string& name, auto& parameter, const auto& g) {
    const std::size_t count = parameter.size();
    const std::size_t stride =
        options.elements == 0 ? 1 : std::max<std::size_t>(1, (count + options.elements - 1) / options.elements);
    const double largest = largest_of(g);
    for (std::size_t i = 0; i < count; i += stride) {
      const double here = std::as_const(parameter).data()[i];
      const auto beside = [&](double by) {
        parameter.overwrite()[i] = here + by;
        return value();
      };
      const double h = options.step * std::max(1.0, std::abs(here));
      const double near = beside(h) - beside(-h);
      const double far = beside(2 * h) - beside(-2 * h);
      parameter.overwrite()[i] = here;
      const double difference = (8 * near - far) / (12 * h);
      const double scale = std::max({largest, std::abs(difference), floor});
      const double wrong = std::abs(g.data()[i] - difference) / scale;
      ++worst.elements;
      if (!(wrong <= worst.error)) {
        worst.error = wrong;
        worst.where = name + "[" + std::to_string(i) + "]";
        worst.gradient = g.data()[i];
        worst.difference = difference;
      }
    }
  }, at, expected);
  return worst;
}

}  // namespace no_adl

}  // namespace dimwise
