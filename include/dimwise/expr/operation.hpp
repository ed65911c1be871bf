// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/operation.hpp -- one declaration per operation: the calls that it accepts and rejects.
//
// Layer: expr. An operation `w` has a struct `detail::calls::w` with two functions for each form of its call:
// `judge(list<D…>, x…)`, which is declared only and returns the rule's verdict, and `make<Verdict>(list<D…>, x…)`,
// which forms the node. The macro makes the functions from them: the accepted call, the rejected one, whose return
// type is the error, and those for other arguments.
// Tests: tests/compile_fail/arguments/, tests/expr/name_lookup.test.cpp
#pragma once

#include <dimwise/tensor/misused.hpp>
#include <dimwise/tensor/operand.hpp>

#include <utility>

namespace dimwise {

namespace detail {

// A call names its first dimensions; those that it leaves out are the types of its arguments.
template <class Named, class All>
inline constexpr bool begins = false;
template <class... D>
inline constexpr bool begins<list<>, list<D...>> = true;
template <class First, class... N, class... D>
inline constexpr bool begins<list<First, N...>, list<First, D...>> = begins<list<N...>, list<D...>>;

// An argument where an extent is expected: a number names no dimension (R15).
template <class X>
concept extent_or_number = dimension_type<X> || number<X>;
template <class Op, class D, class... Given>
using extents_given_once = ERROR_R15_run_time_extents_are_given_once<Op, over<about_t<D>>, over<Given...>>;

// The verdict on a call that leaves out the extent of D, which the compiler must know then (R15).
template <class Op, class D, class Verdict>
struct without_extent {
  using type = Verdict;
};
template <class Op, dimension_type D, allowed Verdict>
  requires(D::static_extent == at_run_time)
struct without_extent<Op, D, Verdict> {
  using type = extents_given_once<Op, D>;
};
template <class Op, class D, class Verdict>
using without_extent_t = typename without_extent<Op, D, Verdict>::type;

// The verdict on a call that ends after its first operand.
template <class Op, class Named, class X, class Argument>
using argument_missing = ERROR_R1_argument_is_missing<Op, over_t<Named>, operand_t<shape_of<X>>, Argument>;

// The verdict on a call; no type if the operation has no such form.
template <class Calls, class Named, class... X>
using verdict_of_call = decltype(Calls::judge(Named{}, std::declval<const X&>()...));

}  // namespace detail

}  // namespace dimwise

#define DIMWISE_DETAIL_JUDGED(word)                                                                 \
  template <class... D, class... X,                                                                 \
            class Verdict = detail::verdict_of_call<detail::calls::word, detail::list<D...>, X...>> \
    requires allowed<Verdict>                                                                       \
  [[nodiscard, gnu::always_inline]] inline auto word(const X&... x) {                               \
    return detail::calls::word::template make<Verdict>(detail::list<D...>{}, x...);                 \
  }                                                                                                 \
  template <class... D, class... X,                                                                 \
            class Verdict = detail::verdict_of_call<detail::calls::word, detail::list<D...>, X...>> \
    requires refused<Verdict>                                                                       \
  Verdict word(const X&... x);

#define DIMWISE_DETAIL_OPERATION(word) \
  DIMWISE_DETAIL_JUDGED(word)          \
  DIMWISE_DETAIL_MISUSED(word)
