// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/norm.hpp -- layer_norm and rms_norm with their learned scales.
//
// Layer: nn.
// Tests: tests/nn/linear.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/formula.hpp>
#include <dimwise/nn/parameters.hpp>

namespace dimwise::nn {

/// (x − mean) / √(variance + epsilon) · gamma + beta over the features F (Ba, Kiros and Hinton 2016): [F…, rest] -> the
/// same.
template <class F, class... More>
struct layer_norm {
  using parameter = tensor<float, F, More...>;
  BOOST_HANA_DEFINE_STRUCT(layer_norm, (parameter, gamma), (parameter, beta));
  double epsilon = 1e-5;

  template <detail::input X>
  [[nodiscard]] auto formula(const X& x) const {
    return detail::words::layer_norm<F, More...>(x, gamma, beta, epsilon);
  }
  DIMWISE_DETAIL_CALL(layer_norm, operator(), formula);

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
  BOOST_HANA_DEFINE_STRUCT(rms_norm, (parameter, gamma));
  double epsilon = 1e-6;

  template <detail::input X>
  [[nodiscard]] auto formula(const X& x) const {
    return detail::words::rms_norm<F, More...>(x, gamma, epsilon);
  }
  DIMWISE_DETAIL_CALL(rms_norm, operator(), formula);

  template <class How, class... Extents>
  void initialise_parameters(How&, const Extents&... extents) {
    gamma = detail::zeros<parameter>(extents...);
    gamma.fill(1);
  }
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
