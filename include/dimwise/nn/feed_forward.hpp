// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/feed_forward.hpp -- the two layers between attentions, plain and gated, and their activations.
//
// Layer: nn.
// Tests: tests/nn/linear.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/linear.hpp>

namespace dimwise::nn {

/// What stands between the two layers: each is a function of `dimwise` as a type.
namespace activation {
struct relu {
  auto operator()(const operand auto& x) const { return dimwise::relu(x); }
};
struct gelu {
  auto operator()(const operand auto& x) const { return dimwise::gelu(x); }
};
struct gelu_tanh {
  auto operator()(const operand auto& x) const { return dimwise::gelu_tanh(x); }
};
struct silu {
  auto operator()(const operand auto& x) const { return dimwise::silu(x); }
};
struct sigmoid {
  auto operator()(const operand auto& x) const { return dimwise::sigmoid(x); }
};
struct tanh {
  auto operator()(const operand auto& x) const { return dimwise::tanh(x); }
};
}  // namespace activation

/// down(f(up(x))), position by position (Vaswani et al. 2017, equation 2): [Model, rest] -> [rest, Model].
template <class Model, class Hidden, class Activation = activation::relu, class Bias = with_bias, class T = float>
struct feed_forward {
  using up_layer = linear<from<Model>, to<Hidden>, Bias, T>;
  using down_layer = linear<from<Hidden>, to<Model>, Bias, T>;
  template <class X>
  using outcome = typename up_layer::template outcome<X>;
  template <operand X>
  struct checked : detail::verdict_of<outcome<X>> {};

  BOOST_HANA_DEFINE_STRUCT(feed_forward, (up_layer, up), (down_layer, down));

  template <operand X, class Verdict = typename checked<X>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const X& x) const {
    return tensor(down.formula(tensor(Activation()(up.formula(x)))));
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);
};

/// down(f(gate(x)) · up(x)) (Shazeer 2020): SwiGLU with silu, GEGLU with gelu, GLU with sigmoid. [Model, rest] -> [rest, Model].
template <class Model, class Hidden, class Activation = activation::silu, class Bias = no_bias, class T = float>
struct gated_feed_forward {
  using up_layer = linear<from<Model>, to<Hidden>, Bias, T>;
  using down_layer = linear<from<Hidden>, to<Model>, Bias, T>;
  template <class X>
  using outcome = typename up_layer::template outcome<X>;
  template <operand X>
  struct checked : detail::verdict_of<outcome<X>> {};

  BOOST_HANA_DEFINE_STRUCT(gated_feed_forward, (up_layer, gate), (up_layer, up), (down_layer, down));

  template <operand X, class Verdict = typename checked<X>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const X& x) const {
    const auto& here = detail::computed_once(x);
    const tensor open = Activation()(gate.formula(here));
    return tensor(down.formula(tensor(up.formula(here) * open)));
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);
};

}  // namespace dimwise::nn
