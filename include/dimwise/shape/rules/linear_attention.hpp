// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/linear_attention.hpp -- the rules of linear attention: the dimensions of operands and state.
//
// Layer: shape.
//
//   linear_attention<P, F>:  [P, F, heads…] x [P, F, kv heads…] x [P, V, kv heads…] x state [F, V, kv heads…]
//                        ->  [P, V, heads…]
//
// R1, R8, R9, R13, R16, R19.
// Tests: tests/nn/linear_attention.test.cpp, tests/compile_fail/cache/
#pragma once

#include <dimwise/shape/rules/placed.hpp>
#include <dimwise/shape/verdict.hpp>

namespace dimwise::detail {

template <class P, class F, class Q, class K, class V, class State>
consteval auto judge_linear_attention() {
  using op_t = op::linear_attention;
  using O = over<about_t<P>, about_t<F>>;
  using per_key = difference_t<dims_t<K>, list<P, F>>;
  using per_value = difference_t<dims_t<V>, list<P>>;
  using value = difference_t<per_value, per_key>;
  using kept = difference_t<dims_t<Q>, list<P, F>>;
  if constexpr (difference_t<list<P, F>, dims_t<Q>>::size > 0) {
    return answer<missing_t<op_t, difference_t<list<P, F>, dims_t<Q>>, Q>>{};
  } else if constexpr (difference_t<list<P, F>, dims_t<K>>::size > 0) {
    return answer<missing_t<op_t, difference_t<list<P, F>, dims_t<K>>, K>>{};
  } else if constexpr (!is_in<P, dims_t<V>>) {
    return answer<missing_t<op_t, list<P>, V>>{};
  } else if constexpr (!has_any(P::abilities, ability::ordered)) {
    return answer<ERROR_R13_needs_ordered_positions<op_t, O, operand_t<K>>>{};
  } else if constexpr (is_packed<P>) {
    return answer<ERROR_R19_packed_positions_need_their_documents<op_t, O, operand_t<K>>>{};
  } else if constexpr (is_in<F, dims_t<V>> || value::size != 1 || !filter<per_key>::all_parallel ||
                       !is_subset<per_key, per_value>) {
    return answer<ERROR_R16_query_key_and_value_are_told_apart_by_dimensions<op_t, O, lhs_t<K>, rhs_t<V>>>{};
  } else if constexpr (!is_subset<per_key, kept> || !filter<kept>::all_parallel) {
    return answer<ERROR_R16_query_key_and_value_are_told_apart_by_dimensions<op_t, O, lhs_t<Q>, rhs_t<K>>>{};
  } else if constexpr (!same_set<dims_t<State>, join_t<per_key, list<F>, value>>) {
    return answer<ERROR_R3_assigned_dimensions_differ<op_t, O, lhs_t<State>,
                                                      rhs_t<make_shape_t<join_t<per_key, list<F>, value>, list<>>>>>{};
  } else if constexpr (indexed_meets<Q, K, V, State>) {
    return answer<ERROR_R18_single_element_meets_its_whole_dimension<op_t, O, lhs_t<Q>, rhs_t<K>, operand_t<V>,
                                                                     operand_t<State>>>{};
  } else if constexpr (!same_set<rotations_t<marks_t<Q>>, rotations_t<marks_t<K>>>) {
    return answer<unlike_rotations_t<Q, K, op_t, O, lhs_t<Q>, rhs_t<K>>>{};
  } else if constexpr (!same_set<rotations_t<marks_t<State>>, rotations_t<marks_t<K>>>) {
    return answer<unlike_rotations_t<State, K, op_t, O, lhs_t<State>, rhs_t<K>>>{};
  } else if constexpr (marked_t<rotated, marks_t<V>>::size > 0) {
    return answer<ERROR_R9_values_are_not_rotated<op_t, O, lhs_t<K>, rhs_t<V>>>{};
  } else {
    return answer<accepted<make_shape_t<replace_t<dims_t<Q>, F, value>, list<>>>>{};
  }
}

// An operand of the update of a state: it has the position, and dimensions of the state.
template <class P, class Changed, class By>
consteval auto judge_state_change() {
  if constexpr (!is_in<P, dims_t<By>>) {
    return answer<missing_t<op::linear_attention, list<P>, By>>{};
  } else if constexpr (!is_subset<difference_t<dims_t<By>, list<P>>, dims_t<Changed>>) {
    return answer<ERROR_R8_neither_has_all_dimensions_of_the_other<op::linear_attention, over<about_t<P>>,
                                                                   lhs_t<Changed>, rhs_t<By>>>{};
  } else if constexpr (indexed_meets<Changed, By>) {
    return answer<ERROR_R18_single_element_meets_its_whole_dimension<op::linear_attention, over<about_t<P>>,
                                                                     lhs_t<Changed>, rhs_t<By>>>{};
  } else {
    return answer<accepted<Changed>>{};
  }
}

}  // namespace dimwise::detail

namespace dimwise::rule {

template <class P, class F, class Q, class K, class V, class State>
using linear_attention =
    detail::on_ranks<op::linear_attention, detail::of_one, detail::list<P, F>,
                     decltype(detail::judge_linear_attention<P, F, Q, K, V, State>()), Q, K, V, State>;
template <class P, class Changed, class By>
using state_change = detail::on_ranks<op::linear_attention, detail::of_one, detail::list<P>,
                                      decltype(detail::judge_state_change<P, Changed, By>()), Changed, By>;

}  // namespace dimwise::rule
