// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/checks/construction.hpp -- what a tensor is made from: extents, elements, numbers and other operands.
//
// Layer: tensor. Everything else is a compile error (R8, R13, R15, R21).
// Tests: tests/tensor/tensor.test.cpp, tests/compile_fail/assign/
#pragma once

#include <dimwise/tensor/elements.hpp>
#include <dimwise/tensor/operand.hpp>

#include <type_traits>

namespace dimwise::detail {

template <class List>
struct run_time_atoms;
template <class... A>
struct run_time_atoms<list<A...>> {
  using type = join_t<list_if<A::static_extent == at_run_time, A>...>;
};
template <class Shape>
using run_time_atoms_t = typename run_time_atoms<atoms_of_list_t<dims_t<Shape>>>::type;

// Extents that construct a tensor of this shape: every run-time extent once, static ones optionally. A concept, so that
// the check for dimensions comes first: overload resolution considers this constructor for every copy of a tensor.
template <class Shape, class... Given>
concept gives_extents = (dimension_type<Given> && ...) && is_subset<run_time_atoms_t<Shape>, list<Given...>> &&
                        is_subset<list<Given...>, atoms_of_list_t<dims_t<Shape>>> && all_distinct(list<Given...>{});

template <class Extents, class... Given>
Extents given_extents(const Given&... given) {
  Extents e;
  (e.set(given), ...);
  return e;
}

// Other extents: the error names the needed and the given ones, so that its message says which one is missing.
template <class Shape, class Needed, class... Given>
struct extents_error_of;
template <class Shape, class... Needed, class... Given>
struct extents_error_of<Shape, list<Needed...>, Given...> {
  using type = ERROR_R15_run_time_extents_are_given_once<Shape, over<Needed...>, over<Given...>>;
};
template <class Shape, class... Given>
using extents_error = typename extents_error_of<Shape, run_time_atoms_t<Shape>, Given...>::type;

// Element types that convert without loss: the same type, or a wider floating-point type.
template <class To, class From>
inline constexpr bool fits =
    std::is_same_v<To, From> || (real_element<To> && real_element<From> && !is_tracked_type<From> &&
                                 sizeof(untracked_t<From>) <= sizeof(untracked_t<To>));

// Assignment converts without loss: equal element types, or a wider floating-point type. `Shown` is the shape of the
// operand.
template <class To, class From, class Op = op::assign, class... Shown>
using elements_error =
    either_t<is_tracked_type<From> && !is_tracked_type<To>,
             ERROR_R21_declared_type_drops_the_gradient<Op, declared<To>, computed<From>, Shown...>,
             ERROR_R13_elements_do_not_fit_the_declared_type<Op, declared<To>, computed<From>, Shown...>>;
template <class To, class E, class Op = op::assign>
using operand_elements_error = elements_error<To, value_of<E>, Op, operand_t<shape_of<E>>>;
// A number has no dimensions, so it would be broadcast; a container has no extents.
template <class Shape, class Other>
using assigned_error =
    either_t<std::is_arithmetic_v<Other>,
             ERROR_R8_assignment_never_broadcasts<op::assign, typename show_assigned<Shape>::as_declared, computed<>>,
             ERROR_R15_tensor_is_made_from_elements_and_extents<Shape>>;
// A shape without dimensions, and without marks that an assignment must keep.
template <class Shape>
inline constexpr bool is_plain_number = std::is_same_v<stored_t<Shape>, shape<>>;
// A number that converts to a tensor without dimensions.
template <class Number, class Shape, class T>
concept number_for = is_plain_number<Shape> && becomes<T, Number>();

}  // namespace dimwise::detail
