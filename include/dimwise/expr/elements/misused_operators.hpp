// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/elements/misused_operators.hpp -- operators between operands, masks and other types: one error
// instead of a list of candidates.
//
// Layer: expr. Types of users are left to their own operators. Misused operations are in tensor/misused.hpp.
// Tests: tests/compile_fail/arguments/
#pragma once

#include <dimwise/expr/elements/compare.hpp>
#include <dimwise/expr/masks/mask.hpp>

namespace dimwise {

/// In an error: a container in the place of a tensor.
template <class T>
struct container_of;

namespace detail {

// An operand beside a tensor that is a mistake: a container, a mask, an id, a dimension.
template <class X>
concept no_number =
    !refused_operand<X> &&
    (std::is_same_v<X, bool> || std::is_pointer_v<std::decay_t<X>> || std::is_null_pointer_v<X> || is_id<X> ||
     dimension_type<X> || mask_like<X> || is_block_mask<X> || position_bias<X> || (!operand<X> && requires(const X& x) {
       std::begin(x);
       std::end(x);
     }));
template <class A, class B>
concept one_refused = refused_operand<A> || refused_operand<B>;
template <class A, class B>
concept no_operands = !one_refused<A, B> && ((operand<A> && no_number<B>) || (operand<B> && no_number<A>));

template <class X>
struct shown_argument {
  using type = X;
};
template <class X>
  requires(!refused_operand<X> && !operand<X>) && requires(const X& x) { std::begin(x); }
struct shown_argument<X> {
  using type = container_of<std::iter_value_t<decltype(std::begin(std::declval<const X&>()))>>;
};
template <operand X>
struct shown_argument<X> {
  using type = operand_t<shape_of<X>>;
};
template <class Op, class A, class B>
using arithmetic_error =
    ERROR_R1_operation_takes_other_arguments<Op, typename shown_argument<A>::type, typename shown_argument<B>::type>;

// Operators of xtensor take any type, as a number, and would be preferred for what is not constant. A member of a
// rejected tensor would be looked up before its own error.
template <class X>
concept xtensor_expression = !is_refused<X> && requires(const X& x) {
  typename X::expression_tag;
  X::static_layout;
  x.dimension();
};
template <class A, class B>
concept beside_xtensor = (operand<A> && xtensor_expression<B>) || (xtensor_expression<A> && operand<B>);

}  // namespace detail

#define DIMWISE_DETAIL_MISUSED_OPERATOR(symbol, name)                              \
  template <class A, class B, class = std::enable_if_t<detail::no_operands<A, B>>, \
            class Error = detail::arithmetic_error<op::name, A, B>>                \
  Error operator symbol(const A& a, const B& b);                                   \
  template <class A, class B>                                                      \
    requires detail::one_refused<A, B>                                             \
  detail::already_refused operator symbol(A a, B b);
DIMWISE_DETAIL_MISUSED_OPERATOR(+, elementwise)
DIMWISE_DETAIL_MISUSED_OPERATOR(-, elementwise)
DIMWISE_DETAIL_MISUSED_OPERATOR(*, elementwise)
DIMWISE_DETAIL_MISUSED_OPERATOR(/, divide)
DIMWISE_DETAIL_MISUSED_OPERATOR(+=, elementwise)
DIMWISE_DETAIL_MISUSED_OPERATOR(-=, elementwise)
DIMWISE_DETAIL_MISUSED_OPERATOR(*=, elementwise)
DIMWISE_DETAIL_MISUSED_OPERATOR(/=, divide)
#undef DIMWISE_DETAIL_MISUSED_OPERATOR

#define DIMWISE_DETAIL_XTENSOR_OPERATOR(symbol, name)                               \
  template <class A, class B>                                                       \
    requires detail::beside_xtensor<std::remove_cvref_t<A>, std::remove_cvref_t<B>> \
  auto operator symbol(A&& a, B&& b)                                                \
      ->detail::arithmetic_error<op::name, std::remove_cvref_t<A>, std::remove_cvref_t<B>>;
DIMWISE_DETAIL_XTENSOR_OPERATOR(+, elementwise)
DIMWISE_DETAIL_XTENSOR_OPERATOR(-, elementwise)
DIMWISE_DETAIL_XTENSOR_OPERATOR(*, elementwise)
DIMWISE_DETAIL_XTENSOR_OPERATOR(/, divide)
#undef DIMWISE_DETAIL_XTENSOR_OPERATOR

// `total += x`: the sum of numbers takes a tensor without dimensions only.
#define DIMWISE_DETAIL_MISUSED_SUM(symbol)                                                                      \
  template <class Number, operand X,                                                                            \
            class Error = ERROR_R8_tensor_with_dimensions_is_no_number<detail::operand_t<detail::shape_of<X>>>> \
    requires(std::is_arithmetic_v<Number> && detail::dims_t<detail::shape_of<X>>::size > 0)                     \
  Error operator symbol(Number& to, const X& x);
DIMWISE_DETAIL_MISUSED_SUM(+=)
DIMWISE_DETAIL_MISUSED_SUM(-=)
DIMWISE_DETAIL_MISUSED_SUM(*=)
DIMWISE_DETAIL_MISUSED_SUM(/=)
#undef DIMWISE_DETAIL_MISUSED_SUM

#define DIMWISE_DETAIL_MISUSED_COMPARISON(symbol)                                                                  \
  template <class A, class B, class = std::enable_if_t<detail::no_operands<A, B> && !detail::compared_pair<A, B>>, \
            class Error = detail::arithmetic_error<op::compare, A, B>>                                             \
  Error operator symbol(const A& a, const B& b);                                                                   \
  template <class A, class B>                                                                                      \
    requires detail::one_refused<A, B>                                                                             \
  detail::already_refused operator symbol(A a, B b);
DIMWISE_DETAIL_MISUSED_COMPARISON(<)
DIMWISE_DETAIL_MISUSED_COMPARISON(<=)
DIMWISE_DETAIL_MISUSED_COMPARISON(>)
DIMWISE_DETAIL_MISUSED_COMPARISON(>=)
DIMWISE_DETAIL_MISUSED_COMPARISON(==)
DIMWISE_DETAIL_MISUSED_COMPARISON(!=)
#undef DIMWISE_DETAIL_MISUSED_COMPARISON

namespace detail {
// A truth without dimensions is a condition: `loss > 2.0F && step > 10`, `!(loss < 0.1F)`.
template <class X>
inline constexpr bool is_truth = false;
template <operand X>
inline constexpr bool is_truth<X> = std::is_same_v<value_of<X>, bool> && is_plain_number<shape_of<X>>;
}  // namespace detail

/// A mask of the other polarity is turned by `allow_of`; a tensor of bool is a mask once its polarity is known.
template <class E, class Error = ERROR_R7_block_mask_needs_allow_of<op::block, detail::operand_t<detail::shape_of<E>>>>
Error operator!(const block_mask<E>& m);
template <operand X,
          class Error = ERROR_R7_mask_needs_a_polarity_allow_or_block<detail::operand_t<detail::shape_of<X>>>>
  requires(!detail::is_truth<X>)
Error operator!(const X& x);
template <detail::refused_operand X>
detail::already_refused operator!(X x);

namespace detail {
template <class X>
inline constexpr bool has_bools = false;
template <operand X>
inline constexpr bool has_bools<X> = std::is_same_v<value_of<X>, bool>;
template <class X>
concept no_mask = std::is_same_v<X, bool> || operand<X>;
// Tensors of bool beside each other, or beside a condition.
template <class A, class B>
concept bools_alone = (has_bools<A> && no_mask<B>) || (no_mask<A> && has_bools<B>);

// The error of `a & b` and `a | b`; void if they are right.
template <class Op, class A, class B>
consteval auto judge_combined() {
  if constexpr ((mask<A> && no_mask<B>) || (no_mask<A> && mask<B>)) {
    using other = either_t<mask<A>, B, A>;  // what both say is a mask of two polarities
    return answer<ERROR_R7_mask_needs_a_polarity_allow_or_block<Op, typename shown_argument<other>::type>>{};
  } else if constexpr ((mask<A> && position_bias<B>) || (position_bias<A> && mask<B>)) {
    return answer<arithmetic_error<Op, A, B>>{};  // a bias is added, and hides nothing
  } else if constexpr (bools_alone<A, B>) {
    return answer<ERROR_R7_mask_needs_a_polarity_allow_or_block<Op, typename shown_argument<A>::type,
                                                                typename shown_argument<B>::type>>{};
  } else if constexpr (operand<A> && operand<B>) {
    return answer<arithmetic_error<Op, A, B>>{};  // elements that are no bool
  }
}
template <class Op, class A, class B>
concept no_masks = !one_refused<A, B> && !std::is_void_v<decltype(judge_combined<Op, A, B>())>;
template <class Op, class A, class B>
using combined_error = typename decltype(judge_combined<Op, A, B>())::type;

template <class... X>
using no_condition = ERROR_R7_tensor_is_no_condition<typename shown_argument<X>::type...>;
// An operand beside a tensor that is a mistake; types of users have their own operators.
template <class X>
concept no_condition_beside = operand<X> || std::is_arithmetic_v<X> || mask_like<X>;
// The error of `a && b` and `a || b`; void if they are right.
template <class A, class B>
consteval auto judge_condition() {
  if constexpr ((mask<A> && (mask<B> || no_mask<B>)) || (no_mask<A> && mask<B>)) {
    return answer<ERROR_R7_mask_is_no_condition<typename shown_argument<A>::type, typename shown_argument<B>::type>>{};
  } else if constexpr (bools_alone<A, B> && (is_truth<A> || is_truth<B>)) {
    // Where one side is a truth, the other one is wrong, unless it is one as well.
    using other = either_t<is_truth<A>, B, A>;
    if constexpr (!is_truth<other> && !std::is_same_v<other, bool>) { return answer<no_condition<other>>{}; }
  } else if constexpr (bools_alone<A, B> || (operand<A> && no_condition_beside<B>) ||
                       (no_condition_beside<A> && operand<B>)) {
    return answer<no_condition<A, B>>{};
  }
}
template <class A, class B>
concept no_conditions = !one_refused<A, B> && (operand<A> || operand<B> || mask<A> || mask<B>) &&
                        !std::is_void_v<decltype(judge_condition<A, B>())>;
template <class A, class B>
using condition_error = typename decltype(judge_condition<A, B>())::type;

}  // namespace detail

template <class A, class B>
  requires detail::one_refused<A, B>
detail::already_refused operator&(A a, B b);
template <class A, class B>
  requires detail::one_refused<A, B>
detail::already_refused operator|(A a, B b);
template <class A, class B, class = std::enable_if_t<detail::no_masks<op::mask_and, A, B>>,
          class Error = detail::combined_error<op::mask_and, A, B>>
Error operator&(const A& a, const B& b);
template <class A, class B, class = std::enable_if_t<detail::no_masks<op::mask_or, A, B>>,
          class Error = detail::combined_error<op::mask_or, A, B>>
Error operator|(const A& a, const B& b);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // they are never called
template <class A, class B, class = std::enable_if_t<detail::no_conditions<A, B>>,
          class Error = detail::condition_error<A, B>>
Error operator&&(const A& a, const B& b);
template <class A, class B, class = std::enable_if_t<detail::no_conditions<A, B>>,
          class Error = detail::condition_error<A, B>>
Error operator||(const A& a, const B& b);
#pragma GCC diagnostic pop

}  // namespace dimwise
