// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/scores.hpp -- what a chain from a product of queries and keys to its softmax holds, by its
// type: scales, caps, masks, biases.
//
// Layer: eval. Types only: plans of the compiler and the backward pass know these chains. Records know more, and
// evaluate the others (records/attention_match_definitions.hpp).
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
  static const product& find(const product& n) { return n; }
};
// The node N after the scores that are its child `At`.
template <class N, std::size_t At = 0>
struct score_step : score_chain<element_t<At, children_t<N>>> {
  using before = score_chain<element_t<At, children_t<N>>>;
  static const auto& find(const N& n) { return before::find(n.template child<At>()); }
};
template <class Shape, class E>
  requires(score_chain<E>::matches)
struct score_chain<with_marks<Shape, E>> : score_step<with_marks<Shape, E>> {};

// A scale: before any bias, because the kernel adds biases last.
template <class E>
concept scaled_scores = score_chain<E>::matches && score_chain<E>::counts.scaled_only();
template <class Shape, class T, scaled_scores E, class U>
struct score_chain<elementwise<Shape, T, fn::multiply, E, constant<U>>>
    : score_step<elementwise<Shape, T, fn::multiply, E, constant<U>>> {};
template <class Shape, class T, scaled_scores E, class U>
struct score_chain<elementwise<Shape, T, fn::divide, E, constant<U>>>
    : score_step<elementwise<Shape, T, fn::divide, E, constant<U>>> {};
template <class Shape, class T, scaled_scores E, class U>
struct score_chain<elementwise<Shape, T, fn::multiply, constant<U>, E>>
    : score_step<elementwise<Shape, T, fn::multiply, constant<U>, E>, 1> {};

// A soft cap: tanh(s) · c.
template <class S>
struct capped_scores {
  static constexpr bool matches = false;
};
template <class Shape, class T, scaled_scores E>
  requires(!is_masked<E>)
struct capped_scores<elementwise<Shape, T, fn::tanh, E>> : score_step<elementwise<Shape, T, fn::tanh, E>> {
  static constexpr chain_counts counts = score_chain<E>::counts + chain_counts{.capped = true};
};
template <class Shape, class T, class S, class U>
  requires(capped_scores<S>::matches)
struct score_chain<elementwise<Shape, T, fn::multiply, S, constant<U>>> : capped_scores<S> {
  static const auto& find(const elementwise<Shape, T, fn::multiply, S, constant<U>>& n) {
    return capped_scores<S>::find(n.template child<0>());
  }
};
template <class Shape, class T, class S, class U>
  requires(capped_scores<S>::matches)
struct score_chain<elementwise<Shape, T, fn::multiply, constant<U>, S>> : capped_scores<S> {
  static const auto& find(const elementwise<Shape, T, fn::multiply, constant<U>, S>& n) {
    return capped_scores<S>::find(n.template child<1>());
  }
};

template <class Shape, class E, class M>
  requires(score_chain<E>::matches)
struct score_chain<masked_node<Shape, E, M>> : score_step<masked_node<Shape, E, M>> {
  static constexpr chain_counts counts = score_chain<E>::counts + mask_sort<M>::counts;
};
template <class Shape, class E, class B>
  requires(score_chain<E>::matches)
struct score_chain<biased_node<Shape, E, B>> : score_step<biased_node<Shape, E, B>> {
  static constexpr chain_counts counts = score_chain<E>::counts + chain_counts{.biases = 1};
};
template <class Shape, class E, class B>
  requires(score_chain<E>::matches)
struct score_chain<position_biased_node<Shape, E, B>> : score_step<position_biased_node<Shape, E, B>> {
  static constexpr chain_counts counts = score_chain<E>::counts + chain_counts{.biases = 1};
};
template <class Shape, class E, class Q, class K, class H>
  requires(score_chain<E>::matches && position_step<Q> == 1 && position_step<K> == 1)
struct score_chain<position_biased_node<Shape, E, alibi<Q, K, H>>>
    : score_step<position_biased_node<Shape, E, alibi<Q, K, H>>> {
  static constexpr chain_counts counts = score_chain<E>::counts + chain_counts{.slopes = 1};
};

}  // namespace dimwise::detail
