// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/match.hpp -- which types are attention: softmax of scores, contracted with values.
//
// Layer: eval. Types only, for plans of the compiler and the backward pass. Matched by which operand carries which
// dimension, whatever the order of operands or memory.
// Tests: tests/eval/plan/plan.test.cpp
#pragma once

#include <dimwise/eval/attention/scores.hpp>

namespace dimwise::detail {

// ---- the weights: a softmax over one axis, whatever was done to its marks or order ----
template <class W>
struct weights_chain {
  static constexpr bool matches = false;
};
template <class Shape, class K, class E>
  requires(score_chain<E>::matches)
struct weights_chain<rowwise<Shape, rows::softmax, list<K>, E>> {
  static constexpr chain_counts counts = score_chain<E>::counts;
  static constexpr bool matches = axes_of<K>::type::size == 1 && counts.lengths <= 1 && counts.documents <= 1 &&
                                  counts.biases <= 1 && counts.slopes <= 1;
  using key = K;
  using scores = E;
  using softmax = rowwise<Shape, rows::softmax, list<K>, E>;
  static const softmax& find(const softmax& n) { return n; }
};
template <class Shape, class E>
  requires(weights_chain<E>::matches)
struct weights_chain<with_marks<Shape, E>> : weights_chain<E> {
  static const auto& find(const with_marks<Shape, E>& n) { return weights_chain<E>::find(n.template child<0>()); }
};
template <class Shape, class E>
  requires(weights_chain<E>::matches)
struct weights_chain<restride<Shape, views::regroup, E>> : weights_chain<E> {
  static const auto& find(const restride<Shape, views::regroup, E>& n) {
    return weights_chain<E>::find(n.template child<0>());
  }
};

template <class Axes>
struct first_position {
  using type = list<>;
};
template <class A, class... Rest>
struct first_position<list<A, Rest...>> {
  using type = typename either_t<is_position<A>, std::type_identity<list<A>>, first_position<list<Rest...>>>::type;
};

// Weights W of some softmax contracted with values V over `Over`: the roles of all axes.
template <class Over, class Result, class W, class V>
struct attention_roles {
  using chain = weights_chain<W>;
  using value_type = V;
  using key = typename chain::key;
  using product = typename score_chain<typename chain::scores>::product;
  static constexpr bool keys_on_right = is_in<key, dims_t<shape_of<element_t<1, children_t<product>>>>>;
  static constexpr bool keys_on_left = is_in<key, dims_t<shape_of<element_t<0, children_t<product>>>>>;
  using query_type = either_t<keys_on_right, element_t<0, children_t<product>>, element_t<1, children_t<product>>>;
  using key_type = either_t<keys_on_right, element_t<1, children_t<product>>, element_t<0, children_t<product>>>;
  static const query_type& query_of(const product& p) { return p.template child<keys_on_right ? 0 : 1>(); }
  static const key_type& key_of(const product& p) { return p.template child<keys_on_right ? 1 : 0>(); }
  using q_axes = axes_for<shape_of<query_type>>;
  using k_axes = axes_for<shape_of<key_type>>;
  using v_axes = axes_for<shape_of<V>>;
  using w_axes = axes_for<shape_of<typename chain::softmax>>;
  using features = axes_of_list_t<typename operation_of<product>::over>;
  using values = difference_t<v_axes, w_axes>;
  // Queries: positions that only they have; all else is computed head by head.
  using row = typename first_position<
      difference_t<difference_t<difference_t<intersection_t<w_axes, q_axes>, k_axes>, v_axes>, list<key>>>::type;
  using heads = difference_t<difference_t<Result, row>, values>;
  using shared_heads = intersection_t<heads, union_t<k_axes, v_axes>>;
  using query_heads = difference_t<heads, shared_heads>;
  using loops = join_t<shared_heads, query_heads>;
  static constexpr bool matches = keys_on_right != keys_on_left && std::is_same_v<Over, list<key>> &&
                                  is_in<key, v_axes> && values::size == 1 && is_subset<values, Result> &&
                                  !is_composite<first_t<join_t<values, list<nothing>>>> && loops::size < max_rank;
};

template <class Over, class Result, class W, class V>
consteval bool is_attention() {
  if constexpr (weights_chain<W>::matches) {
    return attention_roles<Over, Result, W, V>::matches;
  } else {
    return false;
  }
}

// Which operand of a contraction holds the weights of an attention: 0, 1, or 2 where it is none.
template <class Over, class Result, class A, class B>
consteval std::size_t weights_place() {
  if constexpr (is_attention<Over, Result, A, B>()) {
    return 0;
  } else {
    return is_attention<Over, Result, B, A>() ? 1 : 2;
  }
}

// Whether a contraction is attention, and which of its operands are the weights.
template <class N>
struct attention_match {
  static constexpr bool matches = false;
};
template <class Shape, class Over, class A, class B>
  requires(weights_place<Over, product_result_t<contraction<Shape, Over, A, B>>, A, B>() < 2)
struct attention_match<contraction<Shape, Over, A, B>> {
  static constexpr bool matches = true;
  using result = product_result_t<contraction<Shape, Over, A, B>>;
  static constexpr std::size_t place = weights_place<Over, result, A, B>();
  template <class Result>
  using roles_for = attention_roles<Over, Result, element_t<place, list<A, B>>, element_t<1 - place, list<A, B>>>;
  using roles = roles_for<result>;
  static const auto& weights(const contraction<Shape, Over, A, B>& n) { return n.template child<place>(); }
  static const auto& values(const contraction<Shape, Over, A, B>& n) { return n.template child<1 - place>(); }
};

// The context of all heads of a position is contiguous, as the projection that follows reads it.
template <class Axes>
struct by_heads;
template <class... A>
struct by_heads<list<A...>> {
  using heads = join_t<list_if<is_heads<A>, A>...>;
  using others = join_t<list_if<!is_heads<A>, A>...>;
};
template <class Shape, class Roles>
struct context_order {
  using loops = by_heads<typename Roles::loops>;
  using type = join_t<typename loops::others, typename Roles::row, typename loops::heads, typename Roles::values>;
};
template <class Shape, class Over, class A, class B>
  requires(attention_match<contraction<Shape, Over, A, B>>::matches)
struct buffer_order<contraction<Shape, Over, A, B>>
    : context_order<Shape,
                    typename attention_match<contraction<Shape, Over, A, B>>::template roles_for<axes_for<Shape>>> {};

}  // namespace dimwise::detail
