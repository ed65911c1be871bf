// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/recorded.hpp -- which nodes become records, and how many records they need.
//
// Layer: eval. Tracked nodes have the records of plain ones.
// Tests: tests/eval/records.test.cpp
#pragma once

#include <dimwise/eval/kernels/codes.hpp>
#include <dimwise/eval/pass.hpp>
#include <dimwise/eval/records/record.hpp>
#include <dimwise/expr/rearrange/ids.hpp>
#include <dimwise/expr/rearrange/join.hpp>

namespace dimwise::detail {

// Whether a node is computed by one of the operations of records.
template <class N>
inline constexpr bool has_operation = false;
template <class Shape, class How, class E>
inline constexpr bool has_operation<restride<Shape, How, E>> = is_float<E>;
template <class T>
inline constexpr bool has_operation<constant<T>> = real_element<T>;
template <class Shape, class Over, class A, class B>
inline constexpr bool has_operation<contraction<Shape, Over, A, B>> = is_float<A> && is_float<B>;
template <class Shape, class How, class Over, class E>
inline constexpr bool has_operation<rowwise<Shape, How, Over, E>> = is_float<E>;
template <class Shape, real_element T, class How, class Over, class E>
inline constexpr bool has_operation<reduction<Shape, T, How, Over, E>> = is_float<E>;
template <class F>
inline constexpr std::ptrdiff_t rounding_code = -1;
template <>
inline constexpr std::ptrdiff_t rounding_code<fn::rounded<bfloat16>> = rounded_to_bfloat16;
template <>
inline constexpr std::ptrdiff_t rounding_code<fn::rounded<float16>> = rounded_to_float16;
// Functions of a number: the library's, and the user's own of a float.
template <class T, class F, class X, bool Known = function_code<F> != kernels::function::none || rounding_code<F> >= 0>
inline constexpr bool is_function = is_float<X>;
template <class T, class F, class X>
inline constexpr bool is_function<T, F, X, false> =
    std::is_same_v<untracked_t<T>, float> && std::is_same_v<untracked_t<value_of<X>>, float> &&
    std::is_invocable_r_v<float, const F&, float>;
template <class Shape, real_element T, class F, class X>
inline constexpr bool has_operation<elementwise<Shape, T, F, X>> = is_function<T, F, X>;
template <class Shape, real_element T, class F, class A, class B>
inline constexpr bool has_operation<elementwise<Shape, T, F, A, B>> =
    is_float<A> && is_float<B> && operation_code<F>.has_value();
template <class Shape, real_element T, class X, class Y>
inline constexpr bool has_operation<elementwise<Shape, T, fn::pow, X, Y>> = is_float<X> && is_float<Y>;
template <class Shape, real_element T, class X, class Low, class High>
inline constexpr bool has_operation<elementwise<Shape, T, fn::clamp, X, Low, High>> =
    is_float<X> && is_float<Low> && is_float<High>;
template <class Shape, real_element T, class M, class A, class B>
inline constexpr bool has_operation<elementwise<Shape, T, fn::choose, M, A, B>> = is_float<A> && is_float<B>;
template <class Shape, class E, class M>
inline constexpr bool has_operation<masked_node<Shape, E, M>> = is_float<E>;
template <class Shape, class E, class B>
inline constexpr bool has_operation<biased_node<Shape, E, B>> = is_float<E>;
template <class Shape, class E, class B>
inline constexpr bool has_operation<position_biased_node<Shape, E, B>> = is_float<E>;
template <class Shape, class D, class Table, class Ids>
inline constexpr bool has_operation<gathered<Shape, D, Table, Ids>> = is_float<Table>;
template <class Shape, class D, class Values, class Ids>
inline constexpr bool has_operation<scatter_add_node<Shape, D, Values, Ids>> = is_float<Values>;

template <class N>
  requires has_operation<N>
inline constexpr bool is_recorded<N> = true;

template <class E>
inline constexpr bool is_masked_node = false;
template <class Shape, class E, class M>
inline constexpr bool is_masked_node<masked_node<Shape, E, M>> = true;

// How many records a node needs, with those below.
template <class X>
inline constexpr std::size_t records_in = 1;
template <mask M>
inline constexpr std::size_t records_in<M> = 0;
template <class X>
inline constexpr std::size_t records_below = 0;
template <class Op, class Shape, class T, class... X>
inline constexpr std::size_t records_below<node<Op, Shape, T, X...>> = (records_in<X> + ... + 0);
template <class Shape, class T, class M, class... X>  // whose first operand says where the others are taken from
inline constexpr std::size_t records_below<node<apply<fn::choose>, Shape, T, M, X...>> = (records_in<X> + ...);
template <class D, class Shape, class T, class Table, class Ids>  // ids are no records
inline constexpr std::size_t records_below<node<gather_along<D>, Shape, T, Table, Ids>> = records_in<Table>;
template <class D, class Shape, class T, class Values, class Ids>
inline constexpr std::size_t records_below<node<scatter_along<D>, Shape, T, Values, Ids>> = records_in<Values>;
template <class N>
  requires is_recorded<N>
inline constexpr std::size_t records_in<N> = 1 + records_below<N>;

}  // namespace dimwise::detail
