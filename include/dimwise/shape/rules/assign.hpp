// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/assign.hpp -- the rules of `tensor<T, D…> y = expr`: equal dimensions and marks.
//
// Layer: shape. The order may differ: dimensions are matched by name.
//
// R3, R4, R5, R6, R7, R8, R9.
// Tests: tests/shape/rules/assign.test.cpp, tests/compile_fail/assign/
#pragma once

#include <dimwise/shape/verdict.hpp>

namespace dimwise {

/// In an error: the declared shape, and the shape of the expression.
template <class... DimsAndMarks>
struct declared;
template <class... DimsAndMarks>
struct computed;

namespace detail {

template <class Shape>
struct show_assigned;
template <class... T>
struct show_assigned<shape<T...>> {
  using as_declared = declared<T...>;
  using as_computed = computed<T...>;
};

template <class Marks>
struct stored_marks;
template <class... M>
struct stored_marks<list<M...>> {
  using type = join_t<
      typename either_t<mark_order<M> == mark_order<indexed<>>, std::type_identity<list<>>, sorted_mark<M>>::type...>;
};
/// The shape of a stored result: without `indexed`, which an assignment removes.
template <class Shape>
using stored_t = make_shape_t<dims_t<Shape>, typename stored_marks<marks_t<Shape>>::type>;

template <class... D>
consteval bool any_composite(list<D...>) {
  return (is_composite<D> || ... || false);
}

template <class Mark, class... Facts>
consteval auto differing_mark() {
  if constexpr (mark_order<Mark> <= mark_order<score<>>) {
    return answer<ERROR_R6_declared_type_drops_or_invents_raw_or_score<Facts...>>{};
  } else if constexpr (mark_order<Mark> == mark_order<biased_for<>>) {
    return answer<ERROR_R7_declared_type_drops_or_invents_biased<Facts...>>{};
  } else if constexpr (mark_order<Mark> == mark_order<masked_for<>>) {
    return answer<ERROR_R7_declared_type_drops_or_invents_masked<Facts...>>{};
  } else if constexpr (mark_order<Mark> == mark_order<partial<>>) {
    return answer<ERROR_R23_declared_type_drops_or_invents_partial<Facts...>>{};
  } else if constexpr (mark_order<Mark> == mark_order<rotated<>>) {
    return answer<ERROR_R9_declared_type_drops_or_invents_rotated<Facts...>>{};
  } else {
    return answer<ERROR_R5_declared_type_drops_or_invents_normalised<Facts...>>{};
  }
}

template <class Op, class Declared, class Computed>
consteval auto judge_assign() {
  using wanted = dims_t<Declared>;
  using given = dims_t<Computed>;
  using D = typename show_assigned<Declared>::as_declared;
  using C = typename show_assigned<Computed>::as_computed;
  using too_many = difference_t<given, wanted>;
  using too_few = difference_t<wanted, given>;
  using to_store = typename stored_marks<marks_t<Computed>>::type;
  using stored = typename stored_marks<marks_t<Declared>>::type;
  using marks_off = join_t<difference_t<to_store, stored>, difference_t<stored, to_store>>;
  if constexpr (any_composite(join_t<too_many, too_few>{})) {
    return answer<ERROR_R4_composite_is_not_the_declared_dimension<Op, D, C>>{};
  } else if constexpr (too_many::size == 0 && too_few::size > 0) {
    return answer<ERROR_R8_assignment_never_broadcasts<Op, D, C>>{};
  } else if constexpr (too_many::size > 0) {
    return answer<ERROR_R3_assigned_dimensions_differ<Op, D, C>>{};
  } else if constexpr (marks_off::size > 0) {
    return differing_mark<first_t<marks_off>, Op, D, C>();
  } else {
    return answer<accepted<stored_t<Declared>>>{};
  }
}

}  // namespace detail

namespace rule {

/// `Op` is the operation that stores: an assignment, unless it is named.
template <class Declared, class Computed, class Op = op::assign>
using assign = typename decltype(detail::judge_assign<Op, Declared, Computed>())::type;

}  // namespace rule
}  // namespace dimwise
