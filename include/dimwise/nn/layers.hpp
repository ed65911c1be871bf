// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/layers.hpp -- attention and feed-forward with norms and residuals: encoder and decoder layers, and stacks of them.
//
// Layer: nn.
//
//   using own = self_attention<seq, key, multi_head_attention<d_model, heads, d_k, d_v>>;
//   encoder_layer<own, feed_forward<d_model, hidden>, layer_norm<d_model>, pre_norm> layer;
//   tensor y = layer(x, causal<seq, key>{});
//
// Tests: tests/nn/layers.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/feed_forward.hpp>
#include <dimwise/nn/multi_head.hpp>

#include <tuple>

namespace dimwise::nn {

/// Dropout does nothing in inference, visibly: x stays what it is.
struct dropout {
  double probability = 0.1;
  template <operand X>
  [[nodiscard]] const X& operator()(const X& x) const {
    return x;
  }
};

/// norm(x + f(x)): the norm stands behind the residual (Vaswani et al. 2017).
struct post_norm {
  template <class Norm, class X, class F>
  static auto residual(const Norm& norm, const X& x, const F& f) {
    return norm(x + f(x));
  }
};
/// x + f(norm(x)): the norm stands within the residual (Xiong et al. 2020).
struct pre_norm {
  template <class Norm, class X, class F>
  static auto residual(const Norm& norm, const X& x, const F& f) {
    return tensor(x + f(norm(x)));
  }
};

/// Several changes of scores as one, where a module takes them for each of two attentions: `each(alibi<…>{}, causal<…>{})`.
template <class... How>
struct each {
  std::tuple<How...> all;
  explicit each(const How&... how) : all(how...) {}
};

namespace detail {

// Calls f with the changes of scores that one argument says: itself, or all of an `each`.
template <class F, class How>
auto with_changes(const F& f, const How& how) {
  return f(how);
}
template <class F, class... How>
auto with_changes(const F& f, const each<How...>& how) {
  return std::apply(f, how.all);
}

// The verdict of an attention whose changes of scores are one argument.
template <class Attention, class How, class... X>
struct verdict_with {
  using type = typename Attention::template checked<X..., How>::type;
};
template <class Attention, class... How, class... X>
struct verdict_with<Attention, each<How...>, X...> {
  using type = typename Attention::template checked<X..., How...>::type;
};

// A norm keeps the dimensions, so that what it takes is what the next step takes.
template <class X, class... Part>
using parts_verdict = typename verdict_of<typename Part::template outcome<X>...>::type;

}  // namespace detail

/// Self-attention and feed-forward, each with its residual and norm: [P, Model, rest] -> the same, in x's order.
///
/// `how` changes the scores. Refuses what the attention refuses.
template <class SelfAttention, class FeedForward, class Norm, class Order = post_norm>
struct encoder_layer {
  BOOST_HANA_DEFINE_STRUCT(encoder_layer, (SelfAttention, attention), (FeedForward, feed_forward), (Norm, norm1),
                           (Norm, norm2));

  template <operand X, class... How>
  struct checked : detail::verdict_of<typename SelfAttention::template checked<X, How...>::type,
                                      detail::parts_verdict<X, Norm, FeedForward>> {};

  template <operand X, class... How, class Verdict = typename checked<X, How...>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const X& x, const How&... how) const {
    const auto attended =
        Order::residual(norm1, detail::computed_once(x), [&](const auto& here) { return attention(here, how...); });
    return Order::residual(norm2, attended, feed_forward);
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);
};

/// Self-attention, attention to a memory, and feed-forward, each with its residual and norm.
///
///   (x, memory, how, memory_how):  [P, Model, rest] x [Memory, Model, rest]  ->  [P, Model, rest], in x's order
///
/// `how` changes the scores within the sequence, `memory_how` those against the memory; several are one `each(…)`. Refuses
/// what the two attentions refuse.
template <class SelfAttention, class CrossAttention, class FeedForward, class Norm, class Order = post_norm>
struct decoder_layer {
  BOOST_HANA_DEFINE_STRUCT(decoder_layer, (SelfAttention, attention), (CrossAttention, memory_attention),
                           (FeedForward, feed_forward), (Norm, norm1), (Norm, norm2), (Norm, norm3));

  template <operand X, operand M, class How = each<>, class MemoryHow = each<>>
  struct checked : detail::verdict_of<typename detail::verdict_with<SelfAttention, How, X>::type,
                                      typename detail::verdict_with<CrossAttention, MemoryHow, X, M>::type,
                                      detail::parts_verdict<X, Norm, FeedForward>> {};

  template <operand X, operand M, class How = each<>, class MemoryHow = each<>,
            class Verdict = typename checked<X, M, How, MemoryHow>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const X& x, const M& memory, const How& how = each<>(),
                                const MemoryHow& memory_how = each<>()) const {
    const auto own = [&](const auto& here) {
      return detail::with_changes([&](const auto&... h) { return attention(here, h...); }, how);
    };
    const auto other = [&](const auto& here) {
      return detail::with_changes([&](const auto&... h) { return memory_attention(here, memory, h...); }, memory_how);
    };
    const auto attended = Order::residual(norm1, detail::computed_once(x), own);
    const auto informed = Order::residual(norm2, attended, other);
    return Order::residual(norm3, informed, feed_forward);
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);
};

/// Layers one after the other, and a last norm where the layers leave it to the end (`pre_norm`): as many as `layers` holds.
///
///   (x, rest…)  ->  x's own dimensions; `rest` goes to every layer
template <class Layer, class Norm = no_norm>
struct stack {
  using layer_list = std::vector<Layer>;
  // What a layer gives is what the next one takes, and the last what the norm takes.
  template <operand X, class... Rest>
  struct checked : Layer::template checked<X, Rest...> {};
  template <operand X, class... Rest>
    requires allowed<typename Layer::template checked<X, Rest...>::type>
  struct checked<X, Rest...> {
    using stored = decltype(tensor(detail::some<X>()));
    using passed_on = typename detail::assigned_to<stored>::template step<decltype(detail::some<Layer>()(
        detail::some<stored>(), detail::some<Rest>()...))>;
    using type = typename detail::verdict_of<passed_on, typename Norm::template outcome<stored>>::type;
  };

  BOOST_HANA_DEFINE_STRUCT(stack, (layer_list, layers), (Norm, norm));

  /// So many layers, their parameters zero.
  [[nodiscard]] static stack of(std::size_t count) { return {layer_list(count), Norm()}; }

  template <operand X, class... Rest, class Verdict = typename checked<X, Rest...>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const X& x, const Rest&... rest) const {
    const auto through = [&](const auto&... once) {
      auto y = tensor(x);
      for (const Layer& layer : layers) { y = layer(y, once...); }
      return norm(y);
    };
    return through(detail::computed_once(rest)...);
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);
};

/// An encoder, and a decoder that attends to what it gives (Vaswani et al. 2017, figure 1).
template <class Encoder, class Decoder>
struct encoder_decoder {
  BOOST_HANA_DEFINE_STRUCT(encoder_decoder, (Encoder, encoder), (Decoder, decoder));

  template <operand S, operand X, class SourceHow = each<>, class How = each<>, class MemoryHow = each<>>
  struct checked : detail::verdict_of<typename detail::verdict_with<Encoder, SourceHow, S>::type,
                                      typename Decoder::template checked<X, S, How, MemoryHow>::type> {};

  /// (source, target, source_how, target_how, memory_how) -> the target's dimensions; several changes are one `each(…)`.
  template <operand S, operand X, class SourceHow = each<>, class How = each<>, class MemoryHow = each<>,
            class Verdict = typename checked<S, X, SourceHow, How, MemoryHow>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const S& source, const X& target, const SourceHow& source_how = each<>(),
                                const How& how = each<>(), const MemoryHow& memory_how = each<>()) const {
    const auto memory = detail::with_changes([&](const auto&... h) { return encoder(source, h...); }, source_how);
    return decoder(target, memory, how, memory_how);
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);
};

}  // namespace dimwise::nn
