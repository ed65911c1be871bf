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

// The same of a step on two.
template <template <class, class> class Step, class X, class Y>
struct after_both {
  using type = X;
};
template <template <class, class> class Step, computed X, class Y>
struct after_both<Step, X, Y> {
  using type = Y;
};
template <template <class, class> class Step, computed X, computed Y>
struct after_both<Step, X, Y> {
  using type = Step<X, Y>;
};

// Of outcomes and verdicts: the first that refuses, or else the last.
template <class First, class... Rest>
struct last_of {
  using type = First;
};
template <class First, class Second, class... Rest>
  requires(computed<First> || allowed<First>)
struct last_of<First, Second, Rest...> : last_of<Second, Rest...> {};
template <class... Outcome>
using last_of_t = typename last_of<Outcome...>::type;

// The same as a verdict.
template <class X>
struct as_verdict {
  using type = X;
};
template <computed X>
struct as_verdict<X> {
  using type = accepted<shape_of<X>>;
};
template <class... Outcome>
struct verdict_of : as_verdict<last_of_t<Outcome...>> {};

// X where it has the dimension that a module's type names, else the error (R1).
template <class D, class X>
using has = std::conditional_t<is_in<D, dims_t<shape_of<X>>>, X, missing_t<op::scores, list<D>, shape_of<X>>>;

// Whether an outcome is a value of To: a verdict.
template <class To>
struct assigned_to {
  template <class X>
  using step = rule::assign<shape_of<To>, shape_of<X>>;
};

template <class X>
const X& some();

// Whether X is memory, or another look at some.
template <class X>
consteval bool lies_in_memory() {
  if constexpr (is_leaf<X>) {
    return true;
  } else if constexpr (only_looks<X>) {
    return lies_in_memory<std::remove_cvref_t<decltype(some<X>().template child<0>())>>();
  } else {
    return false;
  }
}
// What a module reads more than once: an expression is computed first, all else is x itself, and nothing is copied.
template <class X>
decltype(auto) computed_once(const X& x) {
  if constexpr (operand<X> && !lies_in_memory<X>()) {
    return tensor(x);
  } else {
    return (x);
  }
}

struct added {
  template <class A, class B>
  using step = decltype(some<A>() + some<B>());
};

// g++ wants a definition of what is called with a local type, a lambda's, and would say so in a second error.
#if defined(__GNUC__) && !defined(__clang__)
template <class... Given>
inline constexpr bool deleted_where_refused =
    ((std::is_class_v<Given> && !operand<Given> && !mask_like<Given> && !position_bias<Given>) || ...);
#else
template <class... Given>
inline constexpr bool deleted_where_refused = false;
#endif

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

// The other half of a module's call: of what `verdict` refuses, the error is the type that the call would return
// (CONTRIBUTING, "Add an operation"). A macro, because a module stays a plain struct: a base would be one more member to name.
#define DIMWISE_DETAIL_REFUSED(name, verdict)                                           \
  template <class... Given, class Verdict = typename verdict<Given...>::type>           \
    requires(refused<Verdict> && !dimwise::nn::detail::deleted_where_refused<Given...>) \
  Verdict name(const Given&... given) const;                                            \
  template <class... Given, class Verdict = typename verdict<Given...>::type>           \
    requires(refused<Verdict> && dimwise::nn::detail::deleted_where_refused<Given...>)  \
  Verdict name(const Given&... given) const = delete
