// SPDX-License-Identifier: BSL-1.0
// The backward pass of a layer runs through kernels, and agrees with float64.
#include "nodes.hpp"
#include <dimwise/nn.hpp>

#include <cmath>
#include <string>

using namespace grad_tests;

namespace {

struct model_dim : feature_dim<64> {};
struct wide : feature_dim<96> {};
struct two_heads : heads_dim<4> {};
struct width_k : divided<model_dim, two_heads> {};
struct width_v : divided<model_dim, two_heads> {};

using attention_type = nn::multi_head_attention<model_dim, two_heads, width_k, width_v>;
using layer =
    nn::encoder_layer<nn::self_attention<seq, key, attention_type>,
                      nn::feed_forward<model_dim, wide, nn::activation::gelu>, nn::layer_norm<model_dim>, nn::pre_norm>;

}  // namespace

TEST_CASE("a layer's gradient runs no plain plan, and agrees with float64") {
  const auto module = nn::initialised<layer>(nn::normal(3, 0.2));
  const auto x = drawn<tensor<float, batch, seq, model_dim>>(1, batch{2}, seq{40});
  const auto loss = [&](const auto& m) {
    const tensor y = m(x, causal<seq, key>{});
    return mean<batch, seq, model_dim>(square(y));
  };
  context cx;
  const use_context scope(cx);
  const auto fast = value_and_gradient(module, loss);
  CHECK(cx.counts().of[static_cast<std::size_t>(plan_kind::plain)] == 0);
  CHECK(cx.counts().of[static_cast<std::size_t>(plan_kind::attention)] == 2);
  const auto precise = value_and_gradient(converted<double>(module), loss);
  for_each_parameter_of([](const std::string& name, const auto& a, const auto& b) {
    INFO(name);
    double largest = 0;
    for (std::size_t i = 0; i < b.size(); ++i) { largest = std::max(largest, std::abs(b.data()[i])); }
    // Sums of 80 positions and up to 96 features.
    for (std::size_t i = 0; i < a.size(); ++i) { CHECK(std::abs(a.data()[i] - b.data()[i]) <= 2e-5 * largest + 1e-7); }
  }, fast.gradient, precise.gradient);
}

TEST_CASE("leaves share a gradient that is added to them first") {
  const auto a = drawn<tensor<float, batch, seq, model_dim>>(1, batch{2}, seq{40});
  const auto b = drawn<tensor<float, batch, seq, model_dim>>(2, batch{2}, seq{40});
  const auto copies_of = [&](const auto& store) {
    context cx;
    const use_context scope(cx);
    (void)value_and_gradient(std::tuple(a, b), [&](const auto& m) {
      const tensor y = store(std::get<0>(m), std::get<1>(m));
      return mean<batch, seq, model_dim>(square(y));
    });
    return cx.counts()[plan_kind::copy];
  };
  const auto sum = [](const auto& x, const auto& z) { return x + z; };
  const auto product = [](const auto& x, const auto& z) { return x * z; };
  CHECK(copies_of(sum) == copies_of(product));
}
