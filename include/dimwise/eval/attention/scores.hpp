// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/scores.hpp -- what a chain from a product of queries and keys to its softmax holds: scales,
// caps, masks, biases.
//
// Layer: eval. Types only. A scale that is a tensor over heads or queries joined the scale that is a number: of 4 x 8
// heads with 512 queries and keys of 64 features attention takes 30 ms with it, as without, and took 96 ms by products
// and rows (AVX-512, one thread).
// Tests: tests/eval/plan/plan.test.cpp
#pragma once

#include <dimwise/eval/attention/counts.hpp>
#include <dimwise/eval/loops/product.hpp>
#include <dimwise/expr/masks/causal_parts.hpp>
#include <dimwise/expr/rows/reduce.hpp>

namespace dimwise::detail {

// The steps between a product of queries and keys and its softmax. By default a node is none of them.
template <class S>
struct score_chain {
  static constexpr bool matches = false;
};

// ---- masks: those that a kernel knows by position, by length, or by elements ----
template <class M>
struct mask_sort {
  static constexpr chain_counts counts{.allows = 1};
};
template <class Q, class K>
  requires(position_step<Q> == position_step<K>)
struct mask_sort<causal<Q, K>> {
  static constexpr chain_counts counts{.windows = 1};
};
// A window, unless queries precede all keys: then it is given, as keys in front of the others are visible to all.
template <class Q, class... P>
struct mask_sort<causal<Q, summed<P...>>> {
  static constexpr chain_counts counts{.windows = 1, .allows = 1};
};
template <class Q, class K>
  requires(position_step<Q> == 1 && position_step<K> == 1)
struct mask_sort<window<Q, K>> {
  static constexpr chain_counts counts{.windows = 1};
};
template <class K, class L>
struct mask_sort<padding_mask<K, L>> {
  static constexpr chain_counts counts{.lengths = 1};
};
template <class Q, class K>
struct mask_sort<document<Q, K>> {
  static constexpr chain_counts counts{.documents = 1};
};
template <class A, class B>
struct mask_sort<mask_pair<all_of, A, B>> {
  static constexpr chain_counts counts = mask_sort<A>::counts + mask_sort<B>::counts;
};

template <class Shape, class Over, class A, class B>
struct score_chain<contraction<Shape, Over, A, B>> {
  static constexpr bool matches = axes_of_list_t<Over>::size == 1;
  static constexpr chain_counts counts{};
  using product = contraction<Shape, Over, A, B>;
  using factor_axes = list<>;
  static const product& find(const product& n) { return n; }
};
template <class Shape, class E>
struct score_chain<with_marks<Shape, E>> : score_chain<E> {
  static const auto& find(const with_marks<Shape, E>& n) { return score_chain<E>::find(n.template child<0>()); }
};
// A scale: before any bias, because the kernel adds biases last.
template <class Shape, class T, class E, class U>
  requires(score_chain<E>::matches && score_chain<E>::counts.scaled_only())
struct score_chain<elementwise<Shape, T, fn::multiply, E, constant<U>>> : score_chain<E> {
  static const auto& find(const elementwise<Shape, T, fn::multiply, E, constant<U>>& n) {
    return score_chain<E>::find(n.template child<0>());
  }
};
template <class Shape, class T, class E, class U>
  requires(score_chain<E>::matches && score_chain<E>::counts.scaled_only())
struct score_chain<elementwise<Shape, T, fn::divide, E, constant<U>>> : score_chain<E> {
  static const auto& find(const elementwise<Shape, T, fn::divide, E, constant<U>>& n) {
    return score_chain<E>::find(n.template child<0>());
  }
};
template <class Shape, class T, class E, class U>
  requires(score_chain<E>::matches && score_chain<E>::counts.scaled_only())
struct score_chain<elementwise<Shape, T, fn::multiply, constant<U>, E>> : score_chain<E> {
  static const auto& find(const elementwise<Shape, T, fn::multiply, constant<U>, E>& n) {
    return score_chain<E>::find(n.template child<1>());
  }
};
// A scale for each head, each query, or some of these: queries are multiplied by it. Keys and features have none.
template <class Product, class X>
consteval bool scales_queries() {
  if constexpr (!std::is_same_v<value_of<X>, float> || is_constant<X> ||
                !is_subset<axes_for<shape_of<X>>, axes_for<shape_of<Product>>> || is_masked<X>) {
    return false;
  } else {
    using left = axes_for<shape_of<element_t<0, children_t<Product>>>>;
    using right = axes_for<shape_of<element_t<1, children_t<Product>>>>;
    return is_subset<axes_for<shape_of<X>>, left> || is_subset<axes_for<shape_of<X>>, right>;
  }
}
template <class E, class X>
consteval bool is_factor() {
  if constexpr (is_constant<X> || is_constant<E>) {
    return false;
  } else if constexpr (score_chain<E>::matches) {
    return score_chain<E>::counts.scaled_only() && score_chain<E>::counts.factors == 0 &&
           scales_queries<typename score_chain<E>::product, X>();
  } else {
    return false;
  }
}
template <class Shape, class E, class X>
  requires(is_factor<E, X>())
struct score_chain<elementwise<Shape, float, fn::multiply, E, X>> : score_chain<E> {
  static constexpr chain_counts counts = score_chain<E>::counts + chain_counts{.factors = 1};
  using factor_axes = axes_for<shape_of<X>>;
  static const auto& find(const elementwise<Shape, float, fn::multiply, E, X>& n) {
    return score_chain<E>::find(n.template child<0>());
  }
};
template <class Shape, class E, class X>
  requires(is_factor<E, X>() && !is_factor<X, E>())
struct score_chain<elementwise<Shape, float, fn::multiply, X, E>> : score_chain<E> {
  static constexpr chain_counts counts = score_chain<E>::counts + chain_counts{.factors = 1};
  using factor_axes = axes_for<shape_of<X>>;
  static const auto& find(const elementwise<Shape, float, fn::multiply, X, E>& n) {
    return score_chain<E>::find(n.template child<1>());
  }
};
template <class Shape, class E, class X>
  requires(is_factor<E, X>())
struct score_chain<elementwise<Shape, float, fn::divide, E, X>> : score_chain<E> {
  static constexpr chain_counts counts = score_chain<E>::counts + chain_counts{.factors = 1};
  using factor_axes = axes_for<shape_of<X>>;
  static const auto& find(const elementwise<Shape, float, fn::divide, E, X>& n) {
    return score_chain<E>::find(n.template child<0>());
  }
};
// A soft cap: tanh(s) · c.
template <class Shape, class Inner, class T, class E, class U>
  requires(score_chain<E>::matches && score_chain<E>::counts.scaled_only() && !is_masked<E>)
struct score_chain<elementwise<Shape, T, fn::multiply, elementwise<Inner, T, fn::tanh, E>, constant<U>>>
    : score_chain<E> {
  static constexpr chain_counts counts = score_chain<E>::counts + chain_counts{.capped = true};
  static const auto& find(
      const elementwise<Shape, T, fn::multiply, elementwise<Inner, T, fn::tanh, E>, constant<U>>& n) {
    return score_chain<E>::find(n.template child<0>().template child<0>());
  }
};
template <class Shape, class Inner, class T, class E, class U>
  requires(score_chain<E>::matches && score_chain<E>::counts.scaled_only() && !is_masked<E>)
struct score_chain<elementwise<Shape, T, fn::multiply, constant<U>, elementwise<Inner, T, fn::tanh, E>>>
    : score_chain<E> {
  static constexpr chain_counts counts = score_chain<E>::counts + chain_counts{.capped = true};
  static const auto& find(
      const elementwise<Shape, T, fn::multiply, constant<U>, elementwise<Inner, T, fn::tanh, E>>& n) {
    return score_chain<E>::find(n.template child<1>().template child<0>());
  }
};
// Which operand of a node of two the scores are.
template <class N>
inline constexpr std::size_t scores_place = 0;
template <class Shape, class T, class A, class B>
inline constexpr std::size_t scores_place<elementwise<Shape, T, fn::multiply, A, B>> = score_chain<A>::matches ? 0 : 1;
// Any other function of a score: the kernel calls it back.
template <class Shape, class F, class E>
  requires(score_chain<E>::matches && score_chain<E>::counts.scaled_only() && !is_masked<E> &&
           std::is_invocable_r_v<float, const F&, float>)
struct score_chain<elementwise<Shape, float, F, E>> : score_chain<E> {
  static constexpr chain_counts counts = score_chain<E>::counts + chain_counts{.functions = 1};
  static const auto& find(const elementwise<Shape, float, F, E>& n) {
    return score_chain<E>::find(n.template child<0>());
  }
};
template <class Shape, class E, class M>
  requires(score_chain<E>::matches)
struct score_chain<masked_node<Shape, E, M>> : score_chain<E> {
  static constexpr chain_counts counts = score_chain<E>::counts + mask_sort<M>::counts;
  static const auto& find(const masked_node<Shape, E, M>& n) { return score_chain<E>::find(n.template child<0>()); }
};
template <class Shape, class E, class B>
  requires(score_chain<E>::matches)
struct score_chain<biased_node<Shape, E, B>> : score_chain<E> {
  static constexpr chain_counts counts = score_chain<E>::counts + chain_counts{.biases = 1};
  static const auto& find(const biased_node<Shape, E, B>& n) { return score_chain<E>::find(n.template child<0>()); }
};
template <class Shape, class E, class B>
  requires(score_chain<E>::matches)
struct score_chain<position_biased_node<Shape, E, B>> : score_chain<E> {
  static constexpr chain_counts counts = score_chain<E>::counts + chain_counts{.biases = 1};
  static const auto& find(const position_biased_node<Shape, E, B>& n) {
    return score_chain<E>::find(n.template child<0>());
  }
};
template <class Shape, class E, class Q, class K, class H>
  requires(score_chain<E>::matches && position_step<Q> == 1 && position_step<K> == 1)
struct score_chain<position_biased_node<Shape, E, alibi<Q, K, H>>> : score_chain<E> {
  static constexpr chain_counts counts = score_chain<E>::counts + chain_counts{.slopes = 1};
  static const auto& find(const position_biased_node<Shape, E, alibi<Q, K, H>>& n) {
    return score_chain<E>::find(n.template child<0>());
  }
};

}  // namespace dimwise::detail
