// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/operand.hpp -- what tensors, views and expressions have in common: the concept `operand`.
//
// Layer: tensor. An operand has a type of its elements (`value_type`), a type that lists its dimensions and marks
// (`shape_type`), and the run-time values of its extents (`extents()`).
// Tests: tests/tensor/, tests/expr/name_lookup.test.cpp, tests/compile_fail/arguments/
//
//   template <operand X>
//   auto mean_square(const X& x) { return mean<d_model>(square(x)); }    // of a tensor, a view or an expression
//
//   extent_of<seq>(x)      // the number of elements along seq
//   size_of(x)             // the number of elements
#pragma once

#include <dimwise/shape/rules/assign.hpp>
#include <dimwise/shape/rules/index.hpp>
#include <dimwise/support/element.hpp>
#include <dimwise/tensor/axis_extents.hpp>
#include <dimwise/tensor/misused.hpp>
#include <dimwise/tensor/other_names.hpp>
#include <dimwise/tensor/refused_shape.hpp>

#include <type_traits>

namespace dimwise {

// The operations (`softmax`, `block`, …) are members of `no_adl`, so argument-dependent lookup does not find them: a
// user's function of the same name wins. The directive makes `dimwise::softmax` a name.
namespace no_adl {}
using namespace no_adl;  // NOLINT(google-build-using-namespace)

namespace detail {

// The base of operands, which have the names of other libraries as members.
struct operand_tag : other_names {};
// Not `expression_tag`: xtensor takes classes with a member of that name for its own.
struct expression_base {};

// The error of a tensor with dimensions that is taken for one value.
template <class Value, class Shape>
using one_value_error = either_t<std::is_same_v<Value, bool>, ERROR_R7_tensor_is_no_condition<operand_t<Shape>>,
                                 ERROR_R8_tensor_with_dimensions_is_no_number<operand_t<Shape>>>;
// Types for which a value is taken by mistake. Not long double: each type is one more candidate that compilers list if
// a function of numbers has several overloads.
template <class Value>
concept one_value = !__is_class(Value) && std::is_arithmetic_v<Value> && !std::is_same_v<Value, long double>;
// An operand that has only a shape: errors about it do not print a whole expression.
template <class Shape>
struct shaped_as : operand_tag {
  // `if (x)`, `bool same = x == y;`, `float loss = mean<seq>(x);`: there is a value for each element.
  template <one_value Value, class Error = one_value_error<Value, Shape>>
    requires(dims_t<Shape>::size > 0)
  operator Value() const DIMWISE_DETAIL_REFUSED(Error);
};

// Accepts any argument, by a conversion that is worse than all others except an ellipsis.
struct any_argument {
  template <class X>
  any_argument(const X&);  // implicit, declared only
};

// std::derived_from without a class template for each X and Base, which compiles faster.
template <class X, class Base>
concept derived_from = std::is_base_of_v<Base, X> && requires(const X* x, void (&take)(const Base*)) { take(x); };

}  // namespace detail

/// A tensor, a view, or an expression.
template <class X>
concept operand =
    !detail::is_refused<std::remove_cvref_t<X>> && detail::derived_from<std::remove_cvref_t<X>, detail::operand_tag>;
/// An operand that is not evaluated yet.
template <class X>
concept expression = operand<X> && detail::derived_from<std::remove_cvref_t<X>, detail::expression_base>;
/// A number that an expression may contain: an integer or a floating-point number, not a bool.
template <class X>  // a class is none: compilers ask this about operands
concept number = !__is_class(std::remove_cvref_t<X>) && std::is_arithmetic_v<std::remove_cvref_t<X>> &&
                 !std::is_same_v<std::remove_cvref_t<X>, bool>;

namespace detail {

// The types of an operand. A rejected type has none: its error is reported in the user's line.
template <class X>
using shape_of = typename either_t<is_refused<X>, nothing, X>::shape_type;
template <class X>
using value_of = typename either_t<is_refused<X>, nothing, X>::value_type;
template <class X>
using extents_type_of = extents_for<shape_of<X>>;

template <class Shape>
using axes_for = axes_of_list_t<dims_t<Shape>>;

// The base of an expression, from which `tensor p = expr;` deduces the type of p.
template <class T, class... DimsAndMarks>
struct stored_as {};
template <class T, class Shape>
struct stored_base;
template <class T, class... DimsAndMarks>
struct stored_base<T, shape<DimsAndMarks...>> {
  using type = stored_as<T, DimsAndMarks...>;
};

}  // namespace detail

// Rejects a number: positions are those of a dimension.
template <class X, class Origin, class Error = ERROR_R1_operation_takes_other_arguments<op::starting_at, X, Origin>>
  requires(std::is_arithmetic_v<X> && std::is_arithmetic_v<Origin>)
Error starting_at(const X& extent, const Origin& origin);

namespace no_adl {

/// The run-time value of the extent of D in `x`.
template <class D, operand X>
  requires(detail::is_in<D, detail::dims_t<detail::shape_of<X>>>)
[[nodiscard]] extent_t extent_of(const X& x) {
  return x.extents().template extent<D>();
}
template <class D, operand X,
          class Error =
              ERROR_R1_dimension_is_not_in_the_operand<op::extent_of, over<D>, detail::operand_t<detail::shape_of<X>>>>
  requires(!detail::is_in<D, detail::dims_t<detail::shape_of<X>>>)
Error extent_of(const X& x);
DIMWISE_DETAIL_MISUSED(extent_of)

/// The number of elements of `x`.
template <operand X>
[[nodiscard]] extent_t size_of(const X& x) {
  return detail::checked_size_of<detail::axes_for<detail::shape_of<X>>>(x.extents(), 0, "size_of");
}

}  // namespace no_adl

}  // namespace dimwise
