// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/linear.hpp -- y = x W + b, from some dimensions to others.
//
// Layer: nn.
// Tests: tests/nn/linear.test.cpp, tests/compile_fail/nn/
//
//   linear<from<d_model>, to<heads, d_k>> query;      // [d_model, rest]  ->  [rest, heads, d_k]
//   linear<from<heads, d_v>, to<d_model>> output;     // heads and their features at once: W_O
#pragma once

#include <dimwise/nn/formula.hpp>
#include <dimwise/nn/weight.hpp>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // members of BOOST_HANA_DEFINE_STRUCT have no initialisers

namespace dimwise::nn {

/// The dimensions that a module takes away, and those that it gives.
template <class... D>
struct from;
template <class... D>
struct to;

/// Elements of another type than float, of modules that take options.
template <class T>
struct elements;

/// Whether a module adds a learned vector.
struct with_bias;
struct no_bias {};

namespace detail {

template <class O, class... From>
using output_side = std::conditional_t<is_in<O, list<From...>>, out<O>, O>;

// What the result of a map to O calls it: the product gives out<D> the name D again, where D was summed over.
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

/// A learned map between dimensions: the product with `weight` over the dimensions I, plus `bias`.
///
///   [I…, rest]  ->  [rest, O…]
///
/// A dimension in both lists has its output side in the weight: `tensor<float, d_model, out<d_model>>` (R12);
/// `linear<from<d_model>, to<out<d_model>>>` is the same. Refuses
/// inputs that lack one of I, or that have a position of O already. T is the type of all elements, or how the weight
/// alone is stored (weight.hpp): then its rows are those of the outputs, and the bias is float.
template <class From, class To, class Bias = with_bias, class T = float>
struct linear;
template <class... I, class... O, class Bias, class T>
struct linear<from<I...>, to<O...>, Bias, T> {
  using weight_type = detail::weight_of<T, detail::list<I...>, detail::list<detail::output_side<O, I...>...>>;
  using bias_type =
      std::conditional_t<std::is_same_v<Bias, with_bias>,
                         tensor<detail::activations_t<T>, typename detail::result_side<O, I...>::type...>, no_bias>;

  BOOST_HANA_DEFINE_STRUCT(linear, (weight_type, weight), (bias_type, bias));

  template <detail::input X>
  [[nodiscard]] auto formula(const X& x) const {
    using namespace detail::words;
    if constexpr (std::is_same_v<Bias, with_bias>) {
      return plus(times_weight<I...>(x, weight), bias);
    } else {
      return times_weight<I...>(x, weight);
    }
  }
  DIMWISE_DETAIL_CALL(linear, operator(), formula);

  template <class How, class... Extents>
  void initialise_parameters(How& how, const Extents&... extents) {
    detail::draw_weight<detail::list<I...>, detail::list<detail::output_side<O, I...>...>>(weight, how, extents...);
    if constexpr (operand<bias_type>) { bias = detail::zeros<bias_type>(extents...); }
  }
};

}  // namespace dimwise::nn

#pragma GCC diagnostic pop
