// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/border.hpp -- a module's border: it asks the rules of the operations inside about the input's type first.
//
// Layer: nn. Types only. The first operation that refuses is the module's answer, so that one mistake is one error in the
// line of the call, and a concept can ask.
// Tests: tests/compile_fail/nn/
#pragma once

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/expr/contract.hpp>
#include <dimwise/expr/elementwise.hpp>
#include <dimwise/expr/mask.hpp>
#include <dimwise/expr/positions.hpp>
#include <dimwise/expr/reduce.hpp>
#include <dimwise/expr/scores.hpp>

namespace dimwise::nn::detail {

using namespace dimwise::detail;

/// The outcome of an operation is a value, not the error of a rule.
template <class Outcome>
concept computed = requires { typename Outcome::shape_type; };

// The outcome of a step on an outcome: an error passes through.
template <template <class> class Step, class X>
struct after {
  using type = X;
};
template <template <class> class Step, computed X>
struct after<Step, X> {
  using type = Step<X>;
};

// A verdict from outcomes: the first error, or the last shape.
template <class... Outcome>
struct verdict_of;
template <class Last>
struct verdict_of<Last> {
  using type = Last;
};
template <computed Last>
struct verdict_of<Last> {
  using type = accepted<shape_of<Last>>;
};
template <class First, class... Rest>
struct verdict_of<First, Rest...> {
  using type = First;
};
template <computed First, class... Rest>
  requires(sizeof...(Rest) > 0)
struct verdict_of<First, Rest...> : verdict_of<Rest...> {};

// The first of two verdicts that refuses.
template <class First, class Second>
struct both_of {
  using type = First;
};
template <allowed First, class Second>
struct both_of<First, Second> {
  using type = Second;
};
template <class... V>
struct all_of_verdicts;
template <class V>
struct all_of_verdicts<V> {
  using type = V;
};
template <class First, class... Rest>
struct all_of_verdicts<First, Rest...> {
  using type = typename both_of<First, typename all_of_verdicts<Rest...>::type>::type;
};

template <class X>
const X& some();

// What `tensor(x)` is, of an outcome.
template <class X>
struct stored_outcome {
  using type = X;
};
template <computed X>
struct stored_outcome<X> {
  using type = decltype(tensor(some<X>()));
};
template <class X>
using stored_outcome_t = typename stored_outcome<X>::type;

}  // namespace dimwise::nn::detail
