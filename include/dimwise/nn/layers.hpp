// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/layers.hpp -- encoder and decoder layers with norms and residuals, and stacks of them.
//
// Layer: nn.
//
//   using own = self_attention<seq, key, multi_head_attention<d_model, heads, d_k, d_v>>;
//   encoder_layer<own, feed_forward<d_model, hidden>, layer_norm<d_model>, pre_norm> layer;
//   tensor y = layer(x, causal<seq, key>{});
//
// Tests: tests/nn/layers.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/heads/multi_head.hpp>
#include <dimwise/nn/layers/dropout.hpp>
#include <dimwise/nn/layers/feed_forward.hpp>
#include <dimwise/nn/layers/norm.hpp>

#include <tuple>
#include <vector>

namespace dimwise::nn {

/// norm(x + f(x)): the norm follows the residual (Vaswani et al. 2017).
struct post_norm {
  template <class Norm, class X, class F>
  static auto residual(const Norm& norm, const X& x, const F& f) {
    return detail::call(norm, detail::functions::plus(x, f(x)));
  }
};
/// x + f(norm(x)): the norm precedes f, inside the residual (Xiong et al. 2020).
struct pre_norm {
  template <class Norm, class X, class F>
  static auto residual(const Norm& norm, const X& x, const F& f) {
    using namespace detail::functions;
    return stored(plus(x, f(detail::call(norm, x))));
  }
};

/// Combines several changes of scores into one argument: `each(alibi<…>{}, causal<…>{})`.
template <class... How>
struct each {
  std::tuple<How...> all;
  /// The changes, applied from left to right.
  explicit each(const How&... how) : all(how...) {}
};

namespace detail {

// Calls the module with the changes of scores in `how`: itself, or the members of an `each`.
template <class How, class Module, class... X>
auto call_with(const How& how, const Module& module, const X&... x) {
  return call(module, x..., how);
}
template <class... How, class Module, class... X>
auto call_with(const each<How...>& how, const Module& module, const X&... x) {
  return std::apply([&](const auto&... one) { return call(module, x..., one...); }, how.all);
}

}  // namespace detail

/// Self-attention and feed-forward, each with residual and norm: [P, Model, rest] -> the same, in x's order.
///
/// `how` changes the scores; combine several with `each(…)`. Rejects what the attention rejects.
template <class SelfAttention = argument::nothing, class FeedForward = argument::nothing,
          class Norm = argument::nothing, class Order = post_norm>
struct transformer_block {
  SelfAttention attention{};
  FeedForward feed_forward{};
  Norm norm1{};
  Norm norm2{};
  using members = member_list<&transformer_block::attention, &transformer_block::feed_forward,
                              &transformer_block::norm1, &transformer_block::norm2>;

  template <detail::input X, class... How>
  auto formula(const X& x, const How&... how) const {
    const auto attended = Order::residual(norm1, detail::functions::materialised(x), [&](const auto& here) {
      if constexpr (sizeof...(How) == 1) {
        return detail::call_with(how..., attention, here);
      } else {
        return detail::call(attention, here, how...);
      }
    });
    return Order::residual(norm2, attended, [&](const auto& here) { return detail::call(feed_forward, here); });
  }
  DIMWISE_DETAIL_CALL(transformer_block, operator(), formula);
};
template <class SelfAttention, class FeedForward, class Norm, class Order>
DIMWISE_DETAIL_TAKES(transformer_block, (SelfAttention, FeedForward, Norm, Order),
                     detail::layers<SelfAttention, FeedForward>, detail::norm<Norm>, detail::order<Order>) {
  using transformer_block::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename transformer_block::error>) > 0);
};

/// An encoder block: a `transformer_block` whose self-attention sees every position.
template <class SelfAttention = argument::nothing, class FeedForward = argument::nothing,
          class Norm = argument::nothing, class Order = post_norm>
using encoder_layer = transformer_block<SelfAttention, FeedForward, Norm, Order>;

/// Self-attention, cross-attention to a memory, and feed-forward, each with residual and norm.
///
///   (x, memory, how, memory_how):  [P, Model, rest] x [Memory, Model, rest]  ->  [P, Model, rest], in x's order
///
/// `how` changes the scores of the self-attention, `memory_how` those of the cross-attention; combine several with
/// `each(…)`. Rejects what the two attentions reject.
template <class SelfAttention = argument::nothing, class CrossAttention = argument::nothing,
          class FeedForward = argument::nothing, class Norm = argument::nothing, class Order = post_norm>
struct decoder_layer {
  SelfAttention attention{};
  CrossAttention memory_attention{};
  FeedForward feed_forward{};
  Norm norm1{};
  Norm norm2{};
  Norm norm3{};
  using members = member_list<&decoder_layer::attention, &decoder_layer::memory_attention, &decoder_layer::feed_forward,
                              &decoder_layer::norm1, &decoder_layer::norm2, &decoder_layer::norm3>;

  template <detail::input X, detail::input M, class How = each<>, class MemoryHow = each<>>
  auto formula(const X& x, const M& memory, const How& how = each<>(), const MemoryHow& memory_how = each<>()) const {
    const auto attended = Order::residual(norm1, detail::functions::materialised(x),
                                          [&](const auto& here) { return detail::call_with(how, attention, here); });
    const auto informed = Order::residual(norm2, attended, [&](const auto& here) {
      return detail::call_with(memory_how, memory_attention, here, memory);
    });
    return Order::residual(norm3, informed, [&](const auto& here) { return detail::call(feed_forward, here); });
  }
  DIMWISE_DETAIL_CALL(decoder_layer, operator(), formula);
};
template <class SelfAttention, class CrossAttention, class FeedForward, class Norm, class Order>
DIMWISE_DETAIL_TAKES(decoder_layer, (SelfAttention, CrossAttention, FeedForward, Norm, Order),
                     detail::layers<SelfAttention, CrossAttention, FeedForward>, detail::norm<Norm>,
                     detail::order<Order>) {
  using decoder_layer::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename decoder_layer::error>) > 0);
};

/// A sequence of the layers in `layers`, followed by a final norm if the layers need one (`pre_norm`).
///
///   (x, rest…)  ->  the dimensions of x; `rest` is passed to every layer
template <class Layer = argument::nothing, class Norm = no_norm>
struct stack {
  using layer_list = std::vector<Layer>;
  layer_list layers{};
  Norm norm{};
  using members = member_list<&stack::layers, &stack::norm>;

  /// A stack of `count` layers with zero parameters.
  [[nodiscard]] static stack of(dimwise::detail::given_count count) {
    return {layer_list(count.checked("stack")), Norm()};
  }

  template <detail::input X, class... Rest>
  auto formula(const X& x, const Rest&... rest) const {
    using namespace detail::functions;
    const auto through = [&](const auto&... once) {
      return repeated(layers.size(), stored(x),
                      [&](std::size_t i, const auto& y) { return detail::call(layers[i], y, once...); });
    };
    return detail::call(norm, through(materialised(rest)...));
  }
  DIMWISE_DETAIL_CALL(stack, operator(), formula);
};
template <class Layer, class Norm>
DIMWISE_DETAIL_TAKES(stack, (Layer, Norm), detail::parts<Layer>, detail::norm<Norm>) {
  using stack::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename stack::error>) > 0);
};

/// An encoder, and a decoder that attends to the encoder's output (Vaswani et al. 2017, figure 1).
template <class Encoder = argument::nothing, class Decoder = argument::nothing>
struct encoder_decoder {
  Encoder encoder{};
  Decoder decoder{};
  using members = member_list<&encoder_decoder::encoder, &encoder_decoder::decoder>;

  template <detail::input S, detail::input X, class SourceHow = each<>, class How = each<>, class MemoryHow = each<>>
  auto formula(const S& source, const X& target, const SourceHow& source_how = each<>(), const How& how = each<>(),
               const MemoryHow& memory_how = each<>()) const {
    return detail::call(decoder, target, detail::call_with(source_how, encoder, source), how, memory_how);
  }
  /// (source, target, source_how, target_how, memory_how) -> the target's dimensions; combine several changes with
  /// `each(…)`.
  DIMWISE_DETAIL_CALL(encoder_decoder, operator(), formula);
};
template <class Encoder, class Decoder>
DIMWISE_DETAIL_TAKES(encoder_decoder, (Encoder, Decoder), detail::parts<Encoder, Decoder>) {
  using encoder_decoder::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename encoder_decoder::error>) > 0);
};

}  // namespace dimwise::nn
