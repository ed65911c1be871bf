// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/elements/numbers.hpp -- what computes takes tensors of numbers: no ids, no masks.
//
// Layer: expr. An `id<D>` indexes D and nothing else (R18); a tensor of bool says something about positions only once
// its polarity is known (R7). What divides or takes exponentials needs real numbers (R13); whole ones are added,
// multiplied, compared, and become real where they meet real ones, tensors or numbers. Elements of 16 and 4 bits are
// stored only: they are computed with as floats, which `widened` and `dequantised` make of them (R13).
// Tests: tests/expr/elements/numbers.test.cpp, tests/compile_fail/elements/
#pragma once

#include <dimwise/shape/rules/elementwise.hpp>
#include <dimwise/support/element.hpp>
#include <dimwise/tensor/operand.hpp>

namespace dimwise::detail {

// The shape and the element type of an operand. A number has no dimensions, and the type of the other operand.
template <class X>
struct element_facts {
  using shape_type = shape<>;
  using value_type = float;
};
template <operand X>
struct element_facts<X> {
  using shape_type = shape_of<X>;
  using value_type = value_of<X>;
};
template <class X>
using shape_or_none_t = typename element_facts<X>::shape_type;
template <class X>
using element_of = typename element_facts<X>::value_type;

// The elements of a tensor, or a number, a truth value, an id given alone.
template <class X>
struct compared_element {
  using type = X;
};
template <operand X>
struct compared_element<X> {
  using type = value_of<X>;
};
template <class X>
using compared_t = typename compared_element<X>::type;
// Beside a real number whole ones are real, also where an operation divides.
template <class X>
inline constexpr bool is_real_number = real_element<compared_t<X>>;

// Low-precision elements, which are widened before anything computes with them.
template <class T>
inline constexpr bool is_half_precision = std::is_same_v<T, bfloat16> || std::is_same_v<T, float16>;

template <class Op>
inline constexpr bool takes_whole_numbers =
    is_any_of<Op, op::elementwise, op::sum, op::prod, op::max, op::min, op::argmax, op::maximum, op::minimum, op::clamp,
              op::scatter_add, op::cumsum, op::cumprod, op::sort, op::argsort>;
// Whole numbers are real beside real ones under these.
template <class Op>
inline constexpr bool mixes_with_real = std::is_same_v<Op, op::divide> || std::is_same_v<Op, op::pow>;

// The rule's verdict comes first: one mistake, one error.
template <class Op, class Verdict, class... X>
consteval auto judge_elements() {
  if constexpr (refused<Verdict>) {
    return answer<Verdict>{};
  } else if constexpr ((is_id<element_of<X>> || ...)) {
    return answer<error_with_t<ERROR_R18_ids_index_their_own_dimension_only, Op, shape_or_none_t<X>...>>{};
  } else if constexpr ((std::is_same_v<element_of<X>, bool> || ...)) {
    return answer<error_with_t<ERROR_R7_mask_needs_a_polarity_allow_or_block, Op, shape_or_none_t<X>...>>{};
  } else if constexpr ((stored_element<element_of<X>> || ...)) {
    return answer<error_with_t<ERROR_R13_stored_numbers_are_widened_first, Op, shape_or_none_t<X>...>>{};
  } else if constexpr (!takes_whole_numbers<Op> && !(mixes_with_real<Op> && (is_real_number<X> || ...))) {
    return answer<error_with_t<ERROR_R13_needs_real_numbers, Op, shape_or_none_t<X>...>>{};
  } else {
    return answer<Verdict>{};
  }
}
template <class Op, class Verdict, class... X>
struct judged_elements {
  using type = typename decltype(judge_elements<Op, Verdict, X...>())::type;
};

// Numbers and tensors of real numbers: nothing to judge.
template <class X>
inline constexpr bool is_real = true;
template <operand X>
inline constexpr bool is_real<X> = real_element<value_of<X>>;

// The verdict on an operation that computes with the elements of X…
template <class Op, class Verdict, class... X>
using of_numbers =
    typename either_t<(is_real<X> && ...), std::type_identity<Verdict>, judged_elements<Op, Verdict, X...>>::type;

// What is compared or chosen.
template <class X>
inline constexpr bool is_compared = operand<X> || std::is_arithmetic_v<X> || is_id<X>;

template <class T>
struct id_of;
template <class D>
struct id_of<id<D>> {
  using type = list<D>;
};

// Elements of two operands that meet without arithmetic: numbers with numbers, else both of the same type. `Ordered`:
// ids and bools have no order.
template <class Op, bool Ordered, class Verdict, class A, class B>
consteval auto judge_alike() {
  using T = untracked_t<compared_t<A>>;
  using U = untracked_t<compared_t<B>>;
  constexpr bool bools = std::is_same_v<T, bool> || std::is_same_v<U, bool>;
  constexpr bool numbers = std::is_arithmetic_v<T> && std::is_arithmetic_v<U> && !bools;
  if constexpr (refused<Verdict> || numbers || (std::is_same_v<T, U> && !Ordered)) {
    return answer<Verdict>{};
  } else if constexpr (is_id<T> && is_id<U>) {
    return answer<ERROR_R18_ids_index_their_own_dimension_only<
        Op, over_t<join_t<typename id_of<T>::type, typename id_of<U>::type>>, lhs_t<shape_or_none_t<A>>,
        rhs_t<shape_or_none_t<B>>>>{};
  } else if constexpr (is_id<T> || is_id<U>) {
    return answer<
        error_with_t<ERROR_R18_ids_index_their_own_dimension_only, Op, shape_or_none_t<A>, shape_or_none_t<B>>>{};
  } else if constexpr (bools) {
    return answer<
        error_with_t<ERROR_R7_mask_needs_a_polarity_allow_or_block, Op, shape_or_none_t<A>, shape_or_none_t<B>>>{};
  } else {
    return answer<
        error_with_t<ERROR_R13_stored_numbers_are_widened_first, Op, shape_or_none_t<A>, shape_or_none_t<B>>>{};
  }
}
template <class Op, bool Ordered, class Verdict, class A, class B>
using of_alike = typename decltype(judge_alike<Op, Ordered, Verdict, A, B>())::type;

// The verdict on a call without its dimensions (R1).
template <class Op, class... X>
using unnamed = error_with_t<ERROR_R1_operation_names_its_dimension, Op, shape_of<X>...>;

}  // namespace dimwise::detail
