// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/norm.hpp -- layer_norm and rms_norm with their learned scales.
//
// Layer: nn.
// Tests: tests/nn/linear.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/border.hpp>
#include <dimwise/nn/parameters.hpp>

namespace dimwise::nn {

/// (x − mean) / √(variance + epsilon) · gamma + beta over the features F (Ba, Kiros and Hinton 2016): [F…, rest] -> the same.
template <class F, class... More>
struct layer_norm {
  using parameter = tensor<float, F, More...>;
  template <class X>
  using outcome = decltype(dimwise::layer_norm<F, More...>(detail::some<X>(), detail::some<parameter>(),
                                                           detail::some<parameter>()));
  template <operand X>
  struct checked : detail::verdict_of<outcome<X>> {};

  BOOST_HANA_DEFINE_STRUCT(layer_norm, (parameter, gamma), (parameter, beta));
  double epsilon = 1e-5;

  template <operand X>
  [[nodiscard]] auto formula(const X& x) const {
    return dimwise::layer_norm<F, More...>(x, gamma, beta, epsilon);
  }
  template <operand X, class Verdict = typename checked<X>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const X& x) const {
    return tensor(formula(x));
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);

  template <class How, class... Extents>
  void initialise_parameters(How&, const Extents&... extents) {
    gamma = detail::zeros<parameter>(extents...);
    gamma.fill(1);
    beta = detail::zeros<parameter>(extents...);
  }
};

/// x / √(mean of squares + epsilon) · gamma over the features F (Zhang and Sennrich 2019): [F…, rest] -> the same.
template <class F, class... More>
struct rms_norm {
  using parameter = tensor<float, F, More...>;
  template <class X>
  using outcome = decltype(dimwise::rms_norm<F, More...>(detail::some<X>(), detail::some<parameter>()));
  template <operand X>
  struct checked : detail::verdict_of<outcome<X>> {};

  BOOST_HANA_DEFINE_STRUCT(rms_norm, (parameter, gamma));
  double epsilon = 1e-6;

  template <operand X>
  [[nodiscard]] auto formula(const X& x) const {
    return dimwise::rms_norm<F, More...>(x, gamma, epsilon);
  }
  template <operand X, class Verdict = typename checked<X>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const X& x) const {
    return tensor(formula(x));
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);

  template <class How, class... Extents>
  void initialise_parameters(How&, const Extents&... extents) {
    gamma = detail::zeros<parameter>(extents...);
    gamma.fill(1);
  }
};

/// No norm at all: what comes is what goes.
struct no_norm {
  template <class X>
  using outcome = X;
  template <operand X>
  [[nodiscard]] auto formula(const X& x) const {
    return x;
  }
  template <operand X>
  [[nodiscard]] auto operator()(const X& x) const {
    return tensor(x);
  }
};

}  // namespace dimwise::nn
