// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/cache.hpp -- the rules of KV caches: their dimensions, and the operands of `append`.
//
// Layer: shape.
//
//   append<Key>: keys [Key, rest] and values [Key, rest] of exactly the cache's dimensions and rotation, together
//
// R1, R3, R9, R10, R16, R19.
// Tests: tests/nn/cache/cache.test.cpp, tests/compile_fail/cache/
#pragma once

#include <dimwise/shape/rules/assign.hpp>
#include <dimwise/shape/rules/placed.hpp>

namespace dimwise::detail {

// The common dimensions of keys and values: all but positions and features.
template <class Dims>
struct side_by_side;
template <class... D>
struct side_by_side<list<D...>> {
  using type = join_t<list_if<is_parallel<D>, D>...>;
};

// A byte stores two elements along the last dimension, so a cache along it would not grow by whole bytes.
template <class Key, class Shape, bool Packed>
inline constexpr bool grows_by_half_bytes = false;
template <class Key, class Shape>
inline constexpr bool grows_by_half_bytes<Key, Shape, true> =
    std::is_same_v<element_t<dims_t<Shape>::size - 1, dims_t<Shape>>, Key>;

// `KeysPacked`, `ValuesPacked`: two elements per byte.
template <class Key, class Keys, class Values, bool KeysPacked, bool ValuesPacked>
consteval auto judge_cache() {
  using O = over<about_t<Key>>;
  if constexpr (!is_in<Key, dims_t<Keys>>) {
    return answer<missing_t<op::append, list<Key>, Keys>>{};
  } else if constexpr (!is_in<Key, dims_t<Values>>) {
    return answer<missing_t<op::append, list<Key>, Values>>{};
  } else if constexpr (Key::static_extent != at_run_time) {
    return answer<ERROR_R10_cache_grows_along_a_run_time_extent<op::append, O>>{};
  } else if constexpr (has_any(Key::abilities, ability::packed)) {
    return answer<ERROR_R19_packed_positions_need_their_documents<op::append, O, lhs_t<Keys>, rhs_t<Values>>>{};
  } else if constexpr (grows_by_half_bytes<Key, Keys, KeysPacked> || grows_by_half_bytes<Key, Values, ValuesPacked>) {
    return answer<ERROR_R10_cache_grows_by_whole_bytes<op::append, O, lhs_t<Keys>, rhs_t<Values>>>{};
  } else if constexpr (marked_t<rotated, marks_t<Values>>::size > 0) {
    return answer<ERROR_R9_values_are_not_rotated<op::append, O, lhs_t<Keys>, rhs_t<Values>>>{};
  } else if constexpr (!same_set<typename side_by_side<axes_of_list_t<dims_t<Keys>>>::type,
                                 typename side_by_side<axes_of_list_t<dims_t<Values>>>::type>) {
    return answer<ERROR_R10_operands_differ_in_another_dimension<op::append, O, lhs_t<Keys>, rhs_t<Values>>>{};
  } else {
    return answer<accepted<Keys>>{};
  }
}

// Whether an operand has other positions than the cache.
template <class Key, class Shape>
consteval bool has_other_positions() {
  return !is_in<Key, dims_t<Shape>> && filter<axes_of_list_t<dims_t<Shape>>>::any_position;
}
template <class Key, class Given, class Held>
consteval auto judge_side() {
  using O = over<about_t<Key>>;
  if constexpr (has_other_positions<Key, Given>()) {
    return answer<ERROR_R3_values_are_at_other_positions_than_the_weights<op::append, O, lhs_t<Given>, rhs_t<Held>>>{};
  } else if constexpr (!is_in<Key, dims_t<Given>>) {
    return answer<missing_t<op::append, list<Key>, Given>>{};
  } else if constexpr (!same_set<dims_t<Given>, dims_t<Held>>) {
    return answer<ERROR_R10_operands_differ_in_another_dimension<op::append, O, lhs_t<Given>, rhs_t<Held>>>{};
  } else if constexpr (!same_set<rotations_t<marks_t<Given>>, rotations_t<marks_t<Held>>>) {
    return answer<unlike_rotations_t<Given, Held, op::append, O, lhs_t<Given>, rhs_t<Held>>>{};
  } else if constexpr (!same_set<typename stored_marks<marks_t<Given>>::type, marks_t<Held>>) {
    return answer<ERROR_R10_operands_differ_in_another_dimension<op::append, O, lhs_t<Given>, rhs_t<Held>>>{};
  } else {
    return answer<accepted<Held>>{};
  }
}

template <class Key, class Keys, class Values, class K, class V>
consteval auto judge_append() {
  using k_verdict = typename decltype(judge_side<Key, K, Keys>())::type;
  using v_verdict = typename decltype(judge_side<Key, V, Values>())::type;
  constexpr bool swapped =
      !same_set<dims_t<K>, dims_t<Keys>> && same_set<dims_t<K>, dims_t<Values>> && same_set<dims_t<V>, dims_t<Keys>>;
  if constexpr (swapped) {
    return answer<ERROR_R16_query_key_and_value_are_told_apart_by_dimensions<op::append, over<about_t<Key>>, lhs_t<K>,
                                                                             rhs_t<V>>>{};
  } else if constexpr (refused<k_verdict>) {
    return answer<k_verdict>{};
  } else if constexpr (same_set<dims_t<V>, dims_t<Values>> && marked_t<rotated, marks_t<V>>::size > 0) {
    return answer<ERROR_R9_values_are_not_rotated<op::append, over<about_t<Key>>, lhs_t<K>, rhs_t<V>>>{};
  } else {
    return answer<v_verdict>{};
  }
}

}  // namespace dimwise::detail

namespace dimwise::rule {

template <class Key, class Keys, class Values, bool KeysPacked = false, bool ValuesPacked = false>
using cache =
    detail::on_ranks<op::append, detail::of_one, detail::list<Key>,
                     decltype(detail::judge_cache<Key, Keys, Values, KeysPacked, ValuesPacked>()), Keys, Values>;
template <class Key, class Keys, class Values, class K, class V>
using append = detail::on_ranks<op::append, detail::of_one, detail::list<Key>,
                                decltype(detail::judge_append<Key, Keys, Values, K, V>()), Keys, Values, K, V>;

}  // namespace dimwise::rule
