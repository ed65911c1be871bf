// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/operation.hpp -- one declaration for each word: what it accepts, what it refuses, and how it is misused.
//
// Layer: expr. A word `w` has a struct `detail::calls::w` with two functions for each form of its call:
// `judge(list<D…>, x…)`, which is declared only and returns the rule's verdict, and `make<Verdict>(list<D…>, x…)`,
// which forms the node. The macro makes the functions from them: the accepted call, the refused one, whose return type
// is the error, and those for other arguments.
// Tests: tests/compile_fail/arguments/, tests/expr/words.test.cpp
#pragma once

#include <dimwise/tensor/operand.hpp>

#include <utility>

namespace dimwise {

/// In an error: a number in the place of a dimension.
template <auto... Number>
struct number_arguments;

namespace detail {

// The verdict on a call; no type where the word has no such form.
template <class Calls, class Named, class... X>
using verdict_of_call = decltype(Calls::judge(Named{}, std::declval<const X&>()...));

}  // namespace detail

}  // namespace dimwise

// An ellipsis is the worst of all conversions: the last two are taken only where no other function can be, the
// library's or the user's. What is called with a tensor whose type was refused says nothing more: it is taken by value,
// so that compilers look at its type in the user's line.
#define DIMWISE_DETAIL_MISUSED(word)                                                                          \
  template <class... D, class Error = ERROR_R1_operation_takes_other_arguments<op::word, over<D...>>>         \
  Error word(...);                                                                                            \
  template <auto First, auto... More,                                                                         \
            class Error = ERROR_R1_operation_names_its_dimension<op::word, number_arguments<First, More...>>> \
  Error word(...);                                                                                            \
  template <class... D, class... Given>                                                                       \
    requires(detail::refused_operand<Given> || ...)                                                           \
  detail::already_refused word(Given...);

#define DIMWISE_DETAIL_OPERATION(word)                                                              \
  template <class... D, class... X,                                                                 \
            class Verdict = detail::verdict_of_call<detail::calls::word, detail::list<D...>, X...>> \
    requires allowed<Verdict>                                                                       \
  [[nodiscard]] auto word(const X&... x) {                                                          \
    return detail::calls::word::template make<Verdict>(detail::list<D...>{}, x...);                 \
  }                                                                                                 \
  template <class... D, class... X,                                                                 \
            class Verdict = detail::verdict_of_call<detail::calls::word, detail::list<D...>, X...>> \
    requires refused<Verdict>                                                                       \
  Verdict word(const X&... x);                                                                      \
  DIMWISE_DETAIL_MISUSED(word)
