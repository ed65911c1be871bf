// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/layers/norm.hpp -- the modules layer_norm and rms_norm with their learned scales.
//
// Layer: nn.
// Tests: tests/nn/linear.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/layers/linear.hpp>
#include <dimwise/nn/parameters/rebind.hpp>

namespace dimwise::nn {

namespace detail {

// A numeric member of a module with a default value.
template <class Default>
struct number_setting {
  double value = Default::value;
  number_setting() = default;
  constexpr number_setting(double v) : value(v) {}     // implicit: from a number
  constexpr operator double() const { return value; }  // implicit: to a number
};
struct layer_norm_epsilon {
  static constexpr double value = dimwise::detail::norm_epsilon;
};
// The default of LLaMA; the function `rms_norm` uses the default of all norms.
struct rms_norm_epsilon {
  static constexpr double value = 1e-6;
};

// The parameter type of a norm with these features and element type.
template <class T, class Features, class... Rest>
struct norm_parameter;
template <class T, class... F>
struct norm_parameter<T, list<F...>> {
  using type = tensor<T, F...>;
  using element = T;
  using features = list<F...>;
};
template <class T, class... F, class D, class... Rest>
struct norm_parameter<T, list<F...>, D, Rest...> : norm_parameter<T, list<F..., D>, Rest...> {};
template <class T, class... F, class U, class... Rest>
struct norm_parameter<T, list<F...>, elements<U>, Rest...> : norm_parameter<U, list<F...>, Rest...> {};

template <class X>
inline constexpr bool is_elements = false;
template <class T>
inline constexpr bool is_elements<elements<T>> = is_number<T>;
// One element type: a second one would have no effect.
template <class... F>
using norm_arguments = places<argument::features_or_elements, list<F...>,
                              (dimension_type<F> || (is_elements<F> && (0 + ... + is_elements<F>) == 1))...>;
// The arguments of a norm of another element type.
template <class To, class... F>
using norm_of_element = join_t<list<>, list_if<dimension_type<F>, F>..., list<elements<To>>>;

}  // namespace detail

/// (x − mean) / √(variance + epsilon) · gamma + beta over the features F (Ba, Kiros and Hinton 2016): [F…, rest] -> the
/// same. Append `elements<T>` to the features for an element type other than float.
template <class... F>
struct layer_norm {
  using role = argument::norm;
  using facts = detail::norm_parameter<float, detail::list<>, F...>;
  using parameter = typename facts::type;
  using epsilon_type = detail::number_setting<detail::layer_norm_epsilon>;
  parameter gamma{};
  parameter beta{};
  epsilon_type epsilon{};
  using members = member_list<&layer_norm::gamma, &layer_norm::beta, &layer_norm::epsilon>;

  layer_norm() = default;
  /// Constructs the norm from its parameters; ε is 1e-5 by default.
  layer_norm(const parameter& g, const parameter& b, epsilon_type e = {}) : gamma(g), beta(b), epsilon(e) {}

  template <detail::input X>
  [[nodiscard]] auto formula(const X& x) const {
    return [&]<class... D>(detail::list<D...>) {
      return detail::functions::layer_norm<D...>(x, gamma, beta, static_cast<double>(epsilon));
    }(typename facts::features());
  }
  DIMWISE_DETAIL_CALL(layer_norm, operator(), formula);

  static constexpr bool passes_on = true;
  template <class How, class... Extents>
  void initialise_parameters(How&, const Extents&... extents) {
    gamma = detail::zeros<parameter>(extents...);
    gamma.fill(1);
    beta = detail::zeros<parameter>(extents...);
  }
};

template <class... F>
DIMWISE_DETAIL_TAKES(layer_norm, (F...), detail::norm_arguments<F...>) {
  using layer_norm::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename layer_norm::error>) > 0);
};

/// x / √(mean of squares + epsilon) · gamma over the features F (Zhang and Sennrich 2019): [F…, rest] -> the same.
template <class... F>
struct rms_norm {
  using role = argument::norm;
  using facts = detail::norm_parameter<float, detail::list<>, F...>;
  using parameter = typename facts::type;
  using epsilon_type = detail::number_setting<detail::rms_norm_epsilon>;
  parameter gamma{};
  epsilon_type epsilon{};
  using members = member_list<&rms_norm::gamma, &rms_norm::epsilon>;

  rms_norm() = default;
  /// Constructs the norm from its parameter; ε is 1e-6 by default, as in LLaMA.
  explicit rms_norm(const parameter& g, epsilon_type e = {}) : gamma(g), epsilon(e) {}

  template <detail::input X>
  [[nodiscard]] auto formula(const X& x) const {
    return [&]<class... D>(detail::list<D...>) {
      return detail::functions::rms_norm<D...>(x, gamma, static_cast<double>(epsilon));
    }(typename facts::features());
  }
  DIMWISE_DETAIL_CALL(rms_norm, operator(), formula);

  static constexpr bool passes_on = true;
  template <class How, class... Extents>
  void initialise_parameters(How&, const Extents&... extents) {
    gamma = detail::zeros<parameter>(extents...);
    gamma.fill(1);
  }
};

template <class... F>
DIMWISE_DETAIL_TAKES(rms_norm, (F...), detail::norm_arguments<F...>) {
  using rms_norm::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename rms_norm::error>) > 0);
};

/// The identity, in place of a norm.
struct no_norm {
  template <detail::input X>
  [[nodiscard]] auto formula(const X& x) const {
    return x;
  }
  DIMWISE_DETAIL_CALL(no_norm, operator(), formula);
};

}  // namespace dimwise::nn

template <class To, class... F>
  requires(!dimwise::detail::rejected_type<dimwise::nn::layer_norm<F...>>)
struct dimwise::detail::rebound<To, dimwise::nn::layer_norm<F...>> {
  template <class... Other>
  static auto with(list<Other...>) -> nn::layer_norm<Other...>;
  using type = decltype(with(nn::detail::norm_of_element<To, F...>{}));
};
template <class To, class... F>
  requires(!dimwise::detail::rejected_type<dimwise::nn::rms_norm<F...>>)
struct dimwise::detail::rebound<To, dimwise::nn::rms_norm<F...>> {
  template <class... Other>
  static auto with(list<Other...>) -> nn::rms_norm<Other...>;
  using type = decltype(with(nn::detail::norm_of_element<To, F...>{}));
};
