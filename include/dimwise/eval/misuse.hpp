// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/misuse.hpp -- words that are called with other arguments than they take: one error instead of a list of
// candidates.
//
// Layer: eval. An ellipsis is the worst of all conversions: these overloads are taken only where no other one can be,
// the library's or the user's. What is called with a tensor whose type was refused already says nothing more: it is
// taken by value, so that compilers look at its type in the user's line.
// Tests: tests/compile_fail/arguments/,
// tests/expr/words.test.cpp
#pragma once

#include <dimwise/expr/contract.hpp>
#include <dimwise/expr/elementwise.hpp>
#include <dimwise/expr/ids.hpp>
#include <dimwise/expr/join.hpp>
#include <dimwise/expr/mask.hpp>
#include <dimwise/expr/operation.hpp>
#include <dimwise/expr/positions.hpp>
#include <dimwise/expr/reduce.hpp>
#include <dimwise/expr/restride.hpp>
#include <dimwise/expr/rotary.hpp>
#include <dimwise/expr/scores.hpp>
#include <dimwise/expr/widen.hpp>
#include <dimwise/expr/window.hpp>
#include <dimwise/tensor/random.hpp>
#include <dimwise/tensor/refused_shape.hpp>

#include <iterator>

namespace dimwise {

/// In an error: a container in the place of a tensor.
template <class T>
struct container_of;
namespace op {
struct contract;
struct outer;
struct scores;
struct scaled;
struct unscaled;
struct map;
struct plain;
struct relu;
struct gelu;
struct gelu_tanh;
struct silu;
struct sigmoid;
struct square;
struct masked;
struct biased;
struct indicator;
struct padding;
struct allow;
struct block;
struct allow_of;
struct whole_rows;
struct where;
struct clamp;
struct pow;
struct top_k;
struct split_ids;
struct rename;
struct relabel;
struct permute;
struct split;
struct merge;
struct part;
struct diagonal;
struct broadcast;
struct broadcast_like;
struct at;
struct slice;
struct concat;
struct stack;
struct gather;
struct roll;
struct flip;
struct one_hot;
struct scatter_add;
struct sinusoid;
struct rotary;
struct relative_bias;
struct skew;
struct widened;
struct dequantised;
struct unroll;
struct pool;
struct random_uniform;
struct random_normal;
struct extent_of;
struct evaluate;
struct reference;
}  // namespace op

namespace no_adl {
DIMWISE_DETAIL_MISUSED(contract)
DIMWISE_DETAIL_MISUSED(outer)
DIMWISE_DETAIL_MISUSED(scores)
DIMWISE_DETAIL_MISUSED(scaled)
DIMWISE_DETAIL_MISUSED(unscaled)
DIMWISE_DETAIL_MISUSED(map)
DIMWISE_DETAIL_MISUSED(plain)
DIMWISE_DETAIL_MISUSED(relu)
DIMWISE_DETAIL_MISUSED(gelu)
DIMWISE_DETAIL_MISUSED(gelu_tanh)
DIMWISE_DETAIL_MISUSED(silu)
DIMWISE_DETAIL_MISUSED(sigmoid)
DIMWISE_DETAIL_MISUSED(square)
DIMWISE_DETAIL_MISUSED(masked)
DIMWISE_DETAIL_MISUSED(biased)
DIMWISE_DETAIL_MISUSED(indicator)
DIMWISE_DETAIL_MISUSED(padding)
DIMWISE_DETAIL_MISUSED(allow)
DIMWISE_DETAIL_MISUSED(block)
DIMWISE_DETAIL_MISUSED(allow_of)
DIMWISE_DETAIL_MISUSED(whole_rows)
DIMWISE_DETAIL_MISUSED(where)
DIMWISE_DETAIL_MISUSED(clamp)
DIMWISE_DETAIL_MISUSED(pow)
DIMWISE_DETAIL_MISUSED(top_k)
DIMWISE_DETAIL_MISUSED(split_ids)
DIMWISE_DETAIL_MISUSED(rename)
DIMWISE_DETAIL_MISUSED(relabel)
DIMWISE_DETAIL_MISUSED(permute)
DIMWISE_DETAIL_MISUSED(split)
DIMWISE_DETAIL_MISUSED(merge)
DIMWISE_DETAIL_MISUSED(part)
DIMWISE_DETAIL_MISUSED(diagonal)
DIMWISE_DETAIL_MISUSED(broadcast)
DIMWISE_DETAIL_MISUSED(broadcast_like)
DIMWISE_DETAIL_MISUSED(at)
DIMWISE_DETAIL_MISUSED(slice)
DIMWISE_DETAIL_MISUSED(concat)
DIMWISE_DETAIL_MISUSED(stack)
DIMWISE_DETAIL_MISUSED(gather)
DIMWISE_DETAIL_MISUSED(roll)
DIMWISE_DETAIL_MISUSED(flip)
DIMWISE_DETAIL_MISUSED(one_hot)
DIMWISE_DETAIL_MISUSED(scatter_add)
DIMWISE_DETAIL_MISUSED(sinusoid)
DIMWISE_DETAIL_MISUSED(rotary)
DIMWISE_DETAIL_MISUSED(relative_bias)
DIMWISE_DETAIL_MISUSED(skew)
DIMWISE_DETAIL_MISUSED(widened)
DIMWISE_DETAIL_MISUSED(dequantised)
DIMWISE_DETAIL_MISUSED(unroll)
DIMWISE_DETAIL_MISUSED(pool)
DIMWISE_DETAIL_MISUSED(random_uniform)
DIMWISE_DETAIL_MISUSED(random_normal)
DIMWISE_DETAIL_MISUSED(extent_of)
DIMWISE_DETAIL_MISUSED(evaluate)
DIMWISE_DETAIL_MISUSED(reference)
}  // namespace no_adl
#undef DIMWISE_DETAIL_MISUSED

namespace detail {

template <class X>
inline constexpr bool is_block_mask = false;
template <class E>
inline constexpr bool is_block_mask<block_mask<E>> = true;

// What somebody may write beside a tensor by mistake. Types of users are left to their own operators.
template <class X>
concept no_number = !refused_operand<X> &&
                    (std::is_same_v<X, bool> || std::is_pointer_v<std::decay_t<X>> || is_id<X> || dimension_type<X> ||
                     mask_like<X> || is_block_mask<X> || position_bias<X> || (!operand<X> && requires(const X& x) {
                       std::begin(x);
                       std::end(x);
                     }));
template <class A, class B>
concept one_refused = refused_operand<A> || refused_operand<B>;
template <class A, class B>
concept no_operands = !one_refused<A, B> && ((operand<A> && no_number<B>) || (no_number<A> && operand<B>));

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

}  // namespace detail

#define DIMWISE_DETAIL_MISUSED(symbol, name)                                          \
  template <class A, class B, class Error = detail::arithmetic_error<op::name, A, B>> \
    requires detail::no_operands<A, B>                                                \
  Error operator symbol(const A& a, const B& b);                                      \
  template <class A, class B>                                                         \
    requires detail::one_refused<A, B>                                                \
  detail::already_refused operator symbol(A a, B b);
DIMWISE_DETAIL_MISUSED(+, elementwise)
DIMWISE_DETAIL_MISUSED(-, elementwise)
DIMWISE_DETAIL_MISUSED(*, elementwise)
DIMWISE_DETAIL_MISUSED(/, divide)
DIMWISE_DETAIL_MISUSED(+=, elementwise)
DIMWISE_DETAIL_MISUSED(-=, elementwise)
DIMWISE_DETAIL_MISUSED(*=, elementwise)
DIMWISE_DETAIL_MISUSED(/=, divide)
#undef DIMWISE_DETAIL_MISUSED

/// A mask of the other polarity is turned by `allow_of`; a tensor of bool is a mask once its polarity is known.
template <class E,
          class Error = ERROR_R7_block_mask_is_turned_by_allow_of<op::block, detail::operand_t<detail::shape_of<E>>>>
Error operator!(const block_mask<E>& m);
template <operand X,
          class Error = ERROR_R7_mask_needs_a_polarity_allow_or_block<detail::operand_t<detail::shape_of<X>>>>
Error operator!(const X& x);
template <detail::refused_operand X>
detail::already_refused operator!(X x);

namespace detail {
template <class X>
concept no_mask = std::is_same_v<X, bool> || operand<X>;
}  // namespace detail
template <
    mask A, detail::no_mask B,
    class Error = ERROR_R7_mask_needs_a_polarity_allow_or_block<op::mask_and, typename detail::shown_argument<B>::type>>
Error operator&(const A& a, const B& b);
template <
    detail::no_mask A, mask B,
    class Error = ERROR_R7_mask_needs_a_polarity_allow_or_block<op::mask_and, typename detail::shown_argument<A>::type>>
Error operator&(const A& a, const B& b);
template <
    mask A, detail::no_mask B,
    class Error = ERROR_R7_mask_needs_a_polarity_allow_or_block<op::mask_or, typename detail::shown_argument<B>::type>>
Error operator|(const A& a, const B& b);
template <
    detail::no_mask A, mask B,
    class Error = ERROR_R7_mask_needs_a_polarity_allow_or_block<op::mask_or, typename detail::shown_argument<A>::type>>
Error operator|(const A& a, const B& b);

// A bias is added, and hides nothing.
namespace detail {
template <class A, class B>
concept bias_among_masks = (mask<A> && position_bias<B>) || (position_bias<A> && mask<B>);
}  // namespace detail
template <class A, class B, class Error = detail::arithmetic_error<op::mask_and, A, B>>
  requires detail::bias_among_masks<A, B>
Error operator&(const A& a, const B& b);
template <class A, class B, class Error = detail::arithmetic_error<op::mask_or, A, B>>
  requires detail::bias_among_masks<A, B>
Error operator|(const A& a, const B& b);

// Tensors of bool beside each other, or beside a condition: what both say is a mask of two polarities.
namespace detail {
template <class X>
inline constexpr bool has_bools = false;
template <operand X>
inline constexpr bool has_bools<X> = std::is_same_v<value_of<X>, bool>;
template <class A, class B>
concept bools_alone = (has_bools<A> && no_mask<B>) || (no_mask<A> && has_bools<B>);
template <class Op, class A, class B>
using polarity_error = ERROR_R7_mask_needs_a_polarity_allow_or_block<Op, typename shown_argument<A>::type,
                                                                     typename shown_argument<B>::type>;
template <class A, class B>
using condition_error =
    ERROR_R7_tensor_of_bool_is_no_condition<typename shown_argument<A>::type, typename shown_argument<B>::type>;
}  // namespace detail
template <class A, class B, class Error = detail::polarity_error<op::mask_and, A, B>>
  requires detail::bools_alone<A, B>
Error operator&(const A& a, const B& b);
template <class A, class B, class Error = detail::polarity_error<op::mask_or, A, B>>
  requires detail::bools_alone<A, B>
Error operator|(const A& a, const B& b);
template <class A, class B, class Error = detail::condition_error<A, B>>
  requires detail::bools_alone<A, B>
Error operator&&(const A& a, const B& b);
template <class A, class B, class Error = detail::condition_error<A, B>>
  requires detail::bools_alone<A, B>
Error operator||(const A& a, const B& b);

}  // namespace dimwise
