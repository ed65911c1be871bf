// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/elements/compare.hpp -- comparisons: tensors of bool, element by element, matched by name.
//
// Layer: expr. Their result says something about elements and is no condition of an `if`; `allow` makes a mask of it,
// `where` chooses by it.
// Tests: tests/expr/elements/compare.test.cpp, tests/compile_fail/compare/
//
//   masked(s, allow(distance <= 128))       [seq, key]  ->  [seq, key] of bool
#pragma once

#include <dimwise/expr/elements/elementwise.hpp>
#include <dimwise/expr/untracked.hpp>

namespace dimwise {

namespace detail {

template <class A, class B>
concept compared_pair = (operand<A> || operand<B>) && is_compared<A> && is_compared<B>;

template <bool Ordered, class A, class B>
using comparison_verdict =
    of_alike<op::compare, Ordered, rule::elementwise_by<op::compare, shape_or_none_t<A>, shape_or_none_t<B>>, A, B>;

// Whole numbers keep their types, as they are compared by value; so do ids and bools. All else is promoted as in
// arithmetic.
template <class Other, class X>
auto as_compared(const X& x) {
  using T = compared_t<X>;
  if constexpr (real_element<T> || real_element<compared_t<Other>>) {
    return as_operand<promoted_t<X, Other>>(x);
  } else if constexpr (operand<X>) {
    return x;
  } else {
    return make_constant<T>(x);
  }
}
// A comparison has no derivative: it holds plain elements.
template <class F, class A, class B, class Verdict>
auto make_comparison(const A& a, const B& b) {
  return make_elementwise<Verdict, bool>(F::name, F{}, untracked_of(as_compared<B>(a)),
                                         untracked_of(as_compared<A>(b)));
}

}  // namespace detail

/// True where the elements compare so, and false where one is NaN, but for `!=`.
///
///   [larger] x [subset of it]  ->  [larger] of bool
///
/// Numbers compare with numbers by value, whole ones of any size and sign too; ids with ids of the same dimension, and
/// bools with bools, by `==` and `!=` only. Rejects: R7 (masked values, bools in order), R8, R13, R18 (ids of other
/// dimensions, ids in order, what `at` removed). Throws `extent_error` (R15).
#define DIMWISE_DETAIL_COMPARISON(symbol, function, ordered)                         \
  template <class A, class B, class = std::enable_if_t<detail::compared_pair<A, B>>, \
            class Verdict = detail::comparison_verdict<ordered, A, B>>               \
    requires allowed<Verdict>                                                        \
  [[nodiscard]] auto operator symbol(const A& a, const B& b) {                       \
    return detail::make_comparison<function, A, B, Verdict>(a, b);                   \
  }                                                                                  \
  template <class A, class B, class = std::enable_if_t<detail::compared_pair<A, B>>, \
            class Verdict = detail::comparison_verdict<ordered, A, B>>               \
    requires refused<Verdict>                                                        \
  Verdict operator symbol(const A& a, const B& b);
DIMWISE_DETAIL_COMPARISON(<, fn::less, true)
DIMWISE_DETAIL_COMPARISON(<=, fn::less_equal, true)
DIMWISE_DETAIL_COMPARISON(>, fn::greater, true)
DIMWISE_DETAIL_COMPARISON(>=, fn::greater_equal, true)
DIMWISE_DETAIL_COMPARISON(==, fn::equal, false)
DIMWISE_DETAIL_COMPARISON(!=, fn::not_equal, false)
#undef DIMWISE_DETAIL_COMPARISON

}  // namespace dimwise
