// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/layers/linear.hpp -- the linear layer y = x W + b from input dimensions to output dimensions.
//
// Layer: nn.
// Tests: tests/nn/linear.test.cpp, tests/compile_fail/nn/
//
//   linear<from<d_model>, to<heads, d_k>> query;      // [d_model, rest]  ->  [rest, heads, d_k]
//   linear<from<heads, d_v>, to<d_model>> output;     // heads and their features at once: W_O
#pragma once

#include <dimwise/nn/layers/kinds.hpp>
#include <dimwise/nn/weight.hpp>

#include <vector>

namespace dimwise::nn {

/// The input dimensions that a module consumes, and the output dimensions that it adds.
template <class... D>
struct from;
template <class... D>
struct to;

/// Selects an element type other than float for modules that take options.
template <class T>
struct elements;

/// Selects whether a module adds a bias; `optional_bias` decides that at run time.
struct with_bias;
struct no_bias {};
struct optional_bias;

namespace detail {

template <class From, class To>
inline constexpr bool has_sides = false;
template <class... I, class... O>
inline constexpr bool has_sides<from<I...>, to<O...>> = true;
template <class From, class To>
using sides_error = ERROR_R1_linear_names_its_sides<over<From, To>>;  // g++ prints the line that names it

template <class Bias>
using bias = places<argument::bias, list<Bias>, is_in<Bias, list<with_bias, no_bias, optional_bias>>>;

template <class O, class... From>
using output_side = std::conditional_t<is_in<O, list<From...>>, out<O>, O>;

// The name of the result of a map to O: the product renames out<D> to D if D was contracted.
template <class O, class... From>
struct result_side {
  using type = O;
};
template <class D, class... From>
  requires(is_in<D, list<From...>>)
struct result_side<out<D>, From...> {
  using type = D;
};

}  // namespace detail

/// A learned linear map: contracts x with `weight` over the dimensions I, and adds `bias`.
///
///   [I…, rest]  ->  [rest, O…]
///
/// A dimension in both lists is `out<D>` in the weight: `tensor<float, d_model, out<d_model>>` (R12);
/// `linear<from<d_model>, to<out<d_model>>>` is equivalent. Rejects inputs that lack one of I or already have a
/// dimension of O, and dimensions that are in no list (R1). T is the element type, or a low-precision format of the
/// weight (weight.hpp): then the rows of the weight are outputs, and the bias is float. With `optional_bias`, `bias` is
/// a list of one bias or none, which `has_bias` sets.
template <class From = argument::nothing, class To = argument::nothing, class Bias = with_bias, class T = float>
struct linear : dimwise::detail::refused_members<detail::has_sides<From, To>> {
  static_assert(dimwise::detail::holds<detail::has_sides<From, To>, detail::sides_error<From, To>>,
                "R1: a linear layer maps from<…> to<…>");
};
template <class... I, class... O, class Bias, class T>
struct linear<from<I...>, to<O...>, Bias, T> {
  using weight_type = detail::weight_of<T, detail::list<I...>, detail::list<detail::output_side<O, I...>...>>;
  static constexpr bool decides_at_run_time = std::is_same_v<Bias, optional_bias>;
  using bias_tensor = tensor<detail::activations_t<T>, typename detail::result_side<O, I...>::type...>;
  using bias_type = std::conditional_t<std::is_same_v<Bias, with_bias>, bias_tensor,
                                       std::conditional_t<decides_at_run_time, std::vector<bias_tensor>, no_bias>>;

  weight_type weight{};
  bias_type bias{};
  using members = member_list<&linear::weight, &linear::bias>;

  template <detail::input X>
  [[nodiscard]] auto formula(const X& x) const {
    using namespace detail::functions;
    if constexpr (std::is_same_v<Bias, with_bias>) {
      return plus(times_weight<I...>(x, weight), bias);
    } else if constexpr (decides_at_run_time) {
      // A value: expressions with and without a bias have different types.
      if (bias.empty()) { return stored(times_weight<I...>(x, weight)); }
      return stored(plus(times_weight<I...>(x, weight), bias.front()));
    } else {
      return times_weight<I...>(x, weight);
    }
  }
  DIMWISE_DETAIL_CALL(linear, operator(), formula);

  static constexpr bool passes_on = true;
  template <class How, class... Extents>
  void initialise_parameters(How& how, const Extents&... extents) {
    detail::draw_weight<detail::list<I...>, detail::list<detail::output_side<O, I...>...>>(weight, how, extents...);
    if constexpr (operand<bias_type>) { bias = detail::zeros<bias_type>(extents...); }
    if constexpr (decides_at_run_time) {
      for (bias_tensor& b : bias) { b = detail::zeros<bias_tensor>(extents...); }
    }
  }
  /// Gives the layer a bias, or none.
  void has_bias(bool one)
    requires decides_at_run_time
  {
    bias.resize(one ? 1 : 0);
  }
};

template <class... I, class... O, class Bias, class T>
DIMWISE_DETAIL_TAKES(linear, (from<I...>, to<O...>, Bias, T), detail::dimensions<I..., O...>, detail::bias<Bias>,
                     detail::weight_element<T>, detail::once<I...>, detail::once<O...>) {
  using linear::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename linear::error>) > 0);
};

}  // namespace dimwise::nn
