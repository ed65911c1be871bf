// SPDX-License-Identifier: BSL-1.0
// The gradients of modules, against differences in float64.
#include "grad/nodes.hpp"
#include <dimwise/nn.hpp>

using namespace grad_tests;

namespace {

struct source : position_dim<> {};
struct features : feature_dim<4> {};
struct latent : feature_dim<5> {};
struct slots : position_dim<> {};
using attention_type = nn::multi_head_attention<d_model, heads, d_k, d_v>;
using own = nn::self_attention<seq, key, attention_type>;

template <class M, class... E>
auto module_of(const E&... e) {
  return nn::initialised<M>(nn::normal(3, 0.5), e...);
}

// All of a module and its input get gradients that agree with differences.
template <class M, class X, class F>
void check_module(const M& module, const X& x, const F& f) {
  const auto check =
      check_gradient(std::tuple(module, x), [&](const auto& m) { return weighed(f(std::get<0>(m), std::get<1>(m))); });
  INFO(check.where, ": ", check.gradient, " against ", check.difference);
  CHECK(check.elements > 0);
  CHECK(check.error < 1e-8);
}

const auto x = some<batch, seq, d_model>(1, batch{2}, seq{3});
const auto memory = some<batch, source, d_model>(2, batch{2}, source{4});
const auto apply = [](const auto& m, const auto& input) { return m(input); };

}  // namespace

TEST_CASE("layers of one formula") {
  check_module(module_of<nn::linear<nn::from<d_model>, nn::to<heads, d_k>>>(), x, apply);
  check_module(module_of<nn::linear<nn::from<d_model>, nn::to<d_model>, nn::no_bias>>(), x, apply);
  check_module(module_of<nn::layer_norm<d_model>>(), x, apply);
  check_module(module_of<nn::rms_norm<d_model>>(), x, apply);
  check_module(module_of<nn::feed_forward<d_model, hidden, nn::activation::gelu>>(), x, apply);
  check_module(module_of<nn::gated_feed_forward<d_model, hidden>>(), x, apply);
  check_module(module_of<nn::learned_positions<seq, d_model>>(seq{4}), x, apply);
  const tensor<int, batch, seq> positions({0, 0, 1, 0, 1, 3}, batch{2}, seq{3});  // row 2 is not read
  check_module(module_of<nn::learned_positions<seq, d_model>>(seq{4}), x,
               [&](const auto& m, const auto& y) { return m(y, positions); });
}

TEST_CASE("attention") {
  check_module(module_of<own>(), x, [](const auto& m, const auto& y) { return m(y, causal<seq, key>{}); });
  check_module(module_of<own>(), x,
               [](const auto& m, const auto& y) { return m(y, nn::soft_cap{0.5}, causal<seq, key>{}); });
  check_module(module_of<nn::cross_attention<seq, source, attention_type>>(), x,
               [](const auto& m, const auto& y) { return m(y, memory); });
  using rotated = nn::multi_head_attention<d_model, heads, d_k, d_v, nn::rotated_heads>;
  check_module(module_of<nn::self_attention<seq, key, rotated>>(), x, apply);
  using sink = nn::multi_head_attention<d_model, heads, d_k, d_v, nn::sinks, nn::no_bias>;
  check_module(module_of<nn::self_attention<seq, key, sink>>(), x, apply);
}

TEST_CASE("sinks alone, beside constants") {
  const auto q = some<batch, seq, heads, d_k>(4, batch{2}, seq{3});
  const auto k = some<batch, key, heads, d_k>(5, batch{2}, key{3});
  const auto v = some<batch, key, heads, d_v>(6, batch{2}, key{3});
  const auto check = check_gradient(some<heads>(7), [&](const auto& sinks) {
    return weighed(nn::attention_with_sinks<d_k, key>(q, k, v, sinks, causal<seq, key>{}));
  });
  CHECK(check.elements > 0);
  CHECK(check.error < 1e-8);
}

TEST_CASE("latent attention and slot attention") {
  using latent_type = nn::latent_attention<d_model, heads, hidden, rot, d_v, latent>;
  auto compressed = module_of<latent_type>();
  compressed.rotation.base = 7;  // a setting: the loss is given it, too
  check_module(compressed, x, [](const auto& m, const auto& y) { return m(y, rename<seq, key>(y)); });
  CHECK(converted<double>(compressed).rotation.base == 7);

  using slots_type = nn::slot_attention<seq, slots, d_model, hidden, d_k, d_v, latent>;
  auto competing = module_of<slots_type>();
  CHECK(competing.iterations == 3);
  competing.iterations = 1;
  const auto first = some<batch, slots, hidden>(4, batch{2}, slots{2});
  check_module(competing, x, [&](const auto& m, const auto& y) { return m(y, first); });
  const auto given = [&](const auto& m) { return mean<batch, slots, hidden>(square(m(x, first))); };
  CHECK(value_and_gradient(converted<double>(competing), given).value ==
        doctest::Approx(double(given(converted<double>(competing)))));
}

TEST_CASE("layers and stacks") {
  using feed = nn::feed_forward<d_model, hidden, nn::activation::gelu>;
  using encoder = nn::encoder_layer<own, feed, nn::layer_norm<d_model>, nn::pre_norm>;
  check_module(module_of<encoder>(), x, [](const auto& m, const auto& y) { return m(y, causal<seq, key>{}); });
  using decoder =
      nn::decoder_layer<own, nn::cross_attention<seq, source, attention_type>, feed, nn::layer_norm<d_model>>;
  check_module(module_of<decoder>(), x, [](const auto& m, const auto& y) { return m(y, memory, causal<seq, key>{}); });
}

TEST_CASE("a stack of layers over an input that is a constant, and over one that is not") {
  using feed = nn::feed_forward<d_model, hidden, nn::activation::gelu>;
  using layers =
      nn::stack<nn::encoder_layer<own, feed, nn::layer_norm<d_model>, nn::pre_norm>, nn::layer_norm<d_model>>;
  auto model = layers::of(2);
  nn::initialise(model, nn::normal(3, 0.5));
  check_module(model, x, [](const auto& m, const auto& y) { return m(y, causal<seq, key>{}); });
  const auto check = check_gradient(model, [](const auto& m) { return weighed(m(x, causal<seq, key>{})); });
  INFO(check.where, ": ", check.gradient, " against ", check.difference);
  CHECK(check.elements > 0);
  CHECK(check.error < 1e-8);
}
