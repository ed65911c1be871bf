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
#include <dimwise/nn/layers/dropout.hpp>
#include <dimwise/support/math.hpp>

namespace dimwise {

/// The place where a gradient is farthest from the difference of losses.
struct gradient_check {
  double error = 0;   ///< |gradient − difference| there, over the largest gradient of that parameter
  std::string where;  ///< the parameter's name and the element's number in memory order
  double gradient = 0;
  double difference = 0;
  std::size_t elements = 0;  ///< how many elements were compared
};

/// How `check_gradient` compares: the step of the differences, how many elements of each parameter, spread evenly (0:
/// all), and what a gradient of `float` may err by, over the largest gradient of its parameter.
struct check_options {
  double step = 1e-3;
  std::size_t elements = 0;
  double rounding = 1e-3;
};

namespace detail {

// Whether all parameters of a model are floats.
template <class M>
consteval bool holds_floats() {
  if constexpr (is_parameter<M>) {
    return std::is_same_v<value_of<M>, float>;
  } else if constexpr (nn::detail::is_sequence<M>) {
    return holds_floats<typename M::value_type>();
  } else if constexpr (is_tuple<M> || nn::module<M>) {
    return []<class... Part>(list<Part...>) { return (holds_floats<Part>() && ...); }(nn::detail::parts_t<M>{});
  } else {
    return true;
  }
}
// Whether a program computes the gradient of this loss in float.
template <class M, class Loss>
consteval bool runs_in_float() {
  if constexpr (std::is_same_v<model_element<M>, float> && holds_floats<M>()) {
    using loss = std::remove_cvref_t<decltype(one_number(
        std::declval<std::invoke_result_t<const Loss&, const rebind<tracked<float>, M>&>>()))>;
    return std::is_same_v<value_of<loss>, tracked<float>>;
  } else {
    return false;
  }
}

}  // namespace detail

namespace no_adl {

// Declared first: clang shows the first one on the way to an error in the loss.
template <class M, class Loss,
          class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                           detail::model_of_loss<rebind<double, M>>))::type,
          class Verdict = detail::whole_loss_verdict<rebind<double, M>, Loss, Given>>
  requires detail::refused_here<Verdict>
Verdict check_gradient(const M&, const Loss&, const check_options& = {}) DIMWISE_DETAIL_REFUSES_LAMBDAS;

/// Compares the gradient with differences of fourth order, (8(f(x+h) − f(x−h)) − (f(x+2h) − f(x−2h))) / 12h, of the
/// loss in float64: the gradient in float64 and, of a model of floats, the one that the program computes by kernels.
/// `loss` takes the model with elements of double, tracked double and tracked float, so it is generic.
/// Of the gradient in float, `error` counts only what exceeds `options.rounding`: sums whose terms cancel lose a few
/// thousand roundings, and a kernel that leaves out a term is wrong in the first digit.
/// Throws `gradient_error` where a dropout left out: plain elements go through dropouts as they are, so the differences
/// are those of another loss. Rejects what `value_and_gradient` rejects (R21).
template <class M, class Loss,
          class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                           detail::model_of_loss<rebind<double, M>>))::type,
          class Verdict = detail::whole_loss_verdict<rebind<double, M>, Loss, Given>>
  requires allowed<Verdict>
[[nodiscard]] gradient_check check_gradient(const M& model, const Loss& loss, const check_options& options = {}) {
  (void)detail::positive("check_gradient", "the step", options.step);
  auto at = converted<double>(model);
  const std::uint64_t drawn = nn::detail::dropouts_drawn();
  const auto expected = gradient(at, loss);
  const auto computed = [&] {
    if constexpr (detail::runs_in_float<M, Loss>()) {
      return converted<double>(gradient(model, loss));
    } else {
      return expected;
    }
  }();
  if (drawn != nn::detail::dropouts_drawn()) {
    detail::raise<gradient_error>(
        error{}
        << "check_gradient: a dropout left out elements, and leaves out none where differences are taken; check "
           "the model with a probability of 0");
  }
  // By the loops: a difference of losses shows the last digits, which kernels of double compute less precisely.
  const auto value = [&] {
    const plain_loops only;
    return static_cast<double>(tensor<double>(detail::one_number(loss(std::as_const(at)))));
  };
  gradient_check worst;
  const auto larger = [](double a, double b) { return a < b ? b : a; };
  const auto largest_of = [&](const auto& g) {
    double largest = 0;
    for (std::size_t i = 0; i < g.size(); ++i) { largest = larger(largest, detail::math::fabs(g.data()[i])); }
    return largest;
  };
  // A difference of losses has the rounding errors of the whole loss.
  double floor = 1e-6;
  detail::each_named_parameter_of(
      [&](const std::string&, const auto& g) { floor = larger(floor, 1e-3 * largest_of(g)); }, expected);
  detail::each_named_parameter_of(
      [&](const std::string& name, auto& parameter, const auto& g, [[maybe_unused]] const auto& by_program) {
    const std::size_t count = parameter.size();
    const std::size_t stride =
        options.elements == 0 || count == 0 ? 1 : (count + options.elements - 1) / options.elements;
    const double largest = largest_of(g);
    for (std::size_t i = 0; i < count; i += stride) {
      const double here = std::as_const(parameter).data()[i];
      const auto beside = [&](double by) {
        parameter.overwrite()[i] = here + by;
        return value();
      };
      const double h = options.step * larger(1.0, detail::math::fabs(here));
      const double near = beside(h) - beside(-h);
      const double far = beside(2 * h) - beside(-2 * h);
      parameter.overwrite()[i] = here;
      const double difference = (8 * near - far) / (12 * h);
      const double scale = larger(larger(largest, detail::math::fabs(difference)), floor);
      ++worst.elements;
      const auto compare = [&](double gradient, double rounding) {
        const double beyond = detail::math::fabs(gradient - difference) / scale;
        const double wrong = beyond <= rounding ? 0 : beyond;
        if (detail::math::isnan(worst.error) || wrong <= worst.error) { return; }
        worst.error = wrong;
        worst.where = name + "[" + std::to_string(i) + "]";
        worst.gradient = gradient;
        worst.difference = difference;
      };
      compare(g.data()[i], 0);
      if constexpr (detail::runs_in_float<M, Loss>()) { compare(by_program.data()[i], options.rounding); }
    }
  }, at, expected, computed);
  return worst;
}
template <class M, class Loss,
          class Given = typename decltype(detail::given_by(std::declval<const Loss&>(),
                                                           detail::model_of_loss<rebind<double, M>>))::type,
          class Verdict = detail::whole_loss_verdict<rebind<double, M>, Loss, Given>>
  requires detail::refused_before<Verdict>
gradient_check check_gradient(const M&, const Loss&, const check_options& = {}) {
  detail::raise<gradient_error>(error() << "check_gradient: the loss cannot be called with the model (R21)");
}

}  // namespace no_adl

}  // namespace dimwise
