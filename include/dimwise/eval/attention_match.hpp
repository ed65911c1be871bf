// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention_match.hpp -- which expressions are attention: softmax of scores, contracted with values.
//
// A scale that is a tensor over heads or queries joined the scale that is a number: of 4 x 8 heads with 512 queries and keys of 64
// features attention takes 30 ms with it, as without, and took 96 ms by products and rows (AVX-512, one thread).
//
// Layer: eval. Types only. Matched by which operand carries which dimension, whatever the order of operands or memory.
// Tests: tests/eval/plan.test.cpp
#pragma once

#include <dimwise/eval/loops_product.hpp>
#include <dimwise/expr/causal_parts.hpp>
#include <dimwise/expr/reduce.hpp>

namespace dimwise::detail {

// What stands between a product of queries and keys and its softmax. The default: something else.
template <class S>
struct score_chain {
  static constexpr bool matches = false;
};

// How many masks of each sort, and biases, a chain has: kernels take one of each, and given masks are made one.
struct chain_counts {
  int windows = 0;
  int lengths = 0;
  int documents = 0;
  int allows = 0;
  int biases = 0;
  int slopes = 0;
  int functions = 0;
  int factors = 0;  // scales that are tensors
  bool capped = false;
  [[nodiscard]] constexpr bool shifted() const { return biases + slopes > 0; }
  // A scale belongs before all that is not one.
  [[nodiscard]] constexpr bool scaled_only() const { return !shifted() && !capped && functions == 0; }
};
constexpr chain_counts operator+(chain_counts a, chain_counts b) {
  return {a.windows + b.windows,     a.lengths + b.lengths, a.documents + b.documents,
          a.allows + b.allows,       a.biases + b.biases,   a.slopes + b.slopes,
          a.functions + b.functions, a.factors + b.factors, a.capped || b.capped};
}

// ---- masks: those that a kernel knows by position, by length, or by elements ----
template <class M>
struct mask_sort {
  static constexpr chain_counts counts{.allows = 1};
};
template <class Q, class K>
struct mask_sort<causal<Q, K>> {
  static constexpr chain_counts counts{.windows = 1};
};
// A window unless queries stand before all keys; then given, for what lies in front of the keys is visible to all.
template <class Q, class... P>
struct mask_sort<causal<Q, summed<P...>>> {
  static constexpr chain_counts counts{.windows = 1, .allows = 1};
};
template <class Q, class K>
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
  requires(score_chain<E>::matches)
struct score_chain<position_biased_node<Shape, E, alibi<Q, K, H>>> : score_chain<E> {
  static constexpr chain_counts counts = score_chain<E>::counts + chain_counts{.slopes = 1};
  static const auto& find(const position_biased_node<Shape, E, alibi<Q, K, H>>& n) {
    return score_chain<E>::find(n.template child<0>());
  }
};

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
struct weights_chain<restride<Shape, look::regroup, E>> : weights_chain<E> {
  static const auto& find(const restride<Shape, look::regroup, E>& n) {
    return weights_chain<E>::find(n.template child<0>());
  }
};

template <class Axes>
struct first_position {
  using type = list<>;
};
template <class A, class... Rest>
struct first_position<list<A, Rest...>> {
  using type =
      typename std::conditional_t<is_position<A>, std::type_identity<list<A>>, first_position<list<Rest...>>>::type;
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
  using query_type =
      std::conditional_t<keys_on_right, element_t<0, children_t<product>>, element_t<1, children_t<product>>>;
  using key_type =
      std::conditional_t<keys_on_right, element_t<1, children_t<product>>, element_t<0, children_t<product>>>;
  static const query_type& query_of(const product& p) {
    if constexpr (keys_on_right) {
      return p.template child<0>();
    } else {
      return p.template child<1>();
    }
  }
  static const key_type& key_of(const product& p) {
    if constexpr (keys_on_right) {
      return p.template child<1>();
    } else {
      return p.template child<0>();
    }
  }
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
  using factor_axes = typename score_chain<typename chain::scores>::factor_axes;
  static constexpr bool matches = keys_on_right != keys_on_left && is_subset<factor_axes, q_axes> &&
                                  std::is_same_v<Over, list<key>> && is_in<key, v_axes> && values::size == 1 &&
                                  is_subset<values, Result> && !is_composite<first_t<join_t<values, list<nothing>>>> &&
                                  loops::size < max_rank;
};

template <class Over, class Result, class W, class V>
consteval bool is_attention() {
  if constexpr (weights_chain<W>::matches) {
    return attention_roles<Over, Result, W, V>::matches;
  } else {
    return false;
  }
}

// Whether a contraction is attention, and which of its operands are the weights.
template <class N>
struct attention_match {
  static constexpr bool matches = false;
};
template <class Shape, class Over, class A, class B>
  requires(is_attention<Over, product_result_t<contraction<Shape, Over, A, B>>, A, B>())
struct attention_match<contraction<Shape, Over, A, B>> {
  static constexpr bool matches = true;
  using result = product_result_t<contraction<Shape, Over, A, B>>;
  template <class Result>
  using roles_for = attention_roles<Over, Result, A, B>;
  using roles = roles_for<result>;
  static const A& weights(const contraction<Shape, Over, A, B>& n) { return n.template child<0>(); }
  static const B& values(const contraction<Shape, Over, A, B>& n) { return n.template child<1>(); }
};
template <class Shape, class Over, class A, class B>
  requires(!is_attention<Over, product_result_t<contraction<Shape, Over, A, B>>, A, B>() &&
           is_attention<Over, product_result_t<contraction<Shape, Over, A, B>>, B, A>())
struct attention_match<contraction<Shape, Over, A, B>> {
  static constexpr bool matches = true;
  using result = product_result_t<contraction<Shape, Over, A, B>>;
  template <class Result>
  using roles_for = attention_roles<Over, Result, B, A>;
  using roles = roles_for<result>;
  static const B& weights(const contraction<Shape, Over, A, B>& n) { return n.template child<1>(); }
  static const A& values(const contraction<Shape, Over, A, B>& n) { return n.template child<0>(); }
};

// The context of all heads of a position lies together, as the projection that follows reads it.
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
    : context_order<Shape, typename attention_match<contraction<Shape, Over, A, B>>::template roles_for<axes_for<Shape>>> {};

}  // namespace dimwise::detail
