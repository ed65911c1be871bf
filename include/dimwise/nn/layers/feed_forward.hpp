// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/layers/feed_forward.hpp -- position-wise feed-forward layers, plain and gated, and their activations.
//
// Layer: nn.
// Tests: tests/nn/linear.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/layers/linear.hpp>

namespace dimwise::nn {

/// Activations as types; each calls the function of that name.
namespace activation {
#define DIMWISE_DETAIL_ACTIVATION(name)                               \
  struct name {                                                       \
    template <operand X>                                              \
    auto operator()(const X& x) const -> decltype(dimwise::name(x)) { \
      return dimwise::name(x);                                        \
    }                                                                 \
  }
/// Calls the function of this name.
DIMWISE_DETAIL_ACTIVATION(relu);
DIMWISE_DETAIL_ACTIVATION(gelu);
DIMWISE_DETAIL_ACTIVATION(gelu_tanh);
DIMWISE_DETAIL_ACTIVATION(silu);
DIMWISE_DETAIL_ACTIVATION(sigmoid);
DIMWISE_DETAIL_ACTIVATION(softplus);
DIMWISE_DETAIL_ACTIVATION(tanh);
#undef DIMWISE_DETAIL_ACTIVATION
}  // namespace activation

/// down(f(up(x))) at each position (Vaswani et al. 2017, equation 2): [Model, rest] -> [rest, Model].
template <class Model = argument::nothing, class Hidden = argument::nothing, class Activation = activation::relu,
          class Bias = with_bias, class T = float>
struct feed_forward {
  using role = argument::feed_forward;
  using up_layer = linear<from<Model>, to<Hidden>, Bias, T>;
  using down_layer = linear<from<Hidden>, to<Model>, Bias, T>;
  up_layer up{};
  down_layer down{};
  using members = member_list<&feed_forward::up, &feed_forward::down>;

  template <detail::input X>
  [[nodiscard]] auto formula(const X& x) const {
    using namespace detail::functions;
    return down.formula(detail::attempt(Activation(), kept_for_gradient(up.formula(x))));
  }
  DIMWISE_DETAIL_CALL(feed_forward, operator(), formula);
};
template <class Model, class Hidden, class Activation, class Bias, class T>
DIMWISE_DETAIL_TAKES(feed_forward, (Model, Hidden, Activation, Bias, T), detail::dimensions<Model, Hidden>,
                     detail::activation<Activation>, detail::bias<Bias>, detail::weight_element<T>) {
  using feed_forward::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename feed_forward::error>) > 0);
};

/// down(f(gate(x)) · up(x)) (Shazeer 2020): SwiGLU with silu, GEGLU with gelu, GLU with sigmoid. [Model, rest] ->
/// [rest, Model].
template <class Model = argument::nothing, class Hidden = argument::nothing, class Activation = activation::silu,
          class Bias = no_bias, class T = float>
struct gated_feed_forward {
  using role = argument::feed_forward;
  using up_layer = linear<from<Model>, to<Hidden>, Bias, T>;
  using down_layer = linear<from<Hidden>, to<Model>, Bias, T>;
  up_layer gate{};
  up_layer up{};
  down_layer down{};
  using members = member_list<&gated_feed_forward::gate, &gated_feed_forward::up, &gated_feed_forward::down>;

  template <detail::input X>
  [[nodiscard]] auto formula(const X& given) const {
    using namespace detail::functions;
    const auto& x = materialised(given);
    const auto open = stored(detail::attempt(Activation(), kept_for_gradient(gate.formula(x))));
    return down.formula(stored(times(kept_for_gradient(up.formula(x)), open)));
  }
  DIMWISE_DETAIL_CALL(gated_feed_forward, operator(), formula);
};
template <class Model, class Hidden, class Activation, class Bias, class T>
DIMWISE_DETAIL_TAKES(gated_feed_forward, (Model, Hidden, Activation, Bias, T), detail::dimensions<Model, Hidden>,
                     detail::activation<Activation>, detail::bias<Bias>, detail::weight_element<T>) {
  using gated_feed_forward::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename gated_feed_forward::error>) > 0);
};

}  // namespace dimwise::nn
