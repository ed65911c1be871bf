// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/formula.hpp -- operations for modules that propagate rejected operands, and the macro for module calls.
//
// Layer: nn. A module has one formula, a member template that is written with the functions below. Each function
// returns what the operation of that name returns. If the operation rejects its operands, the function returns a
// `refusal`, and later functions propagate it. The type of a formula is therefore its verdict, and no rule is repeated.
//
//   template <operand X>
//   auto formula(const X& x) const {
//     using namespace detail::functions;
//     return plus(contract<I...>(x, weight), bias);
//   }
//   DIMWISE_DETAIL_CALL(linear, operator(), formula);   // linear(x): the stored value, or the error in the user's line
#pragma once

#include <dimwise/eval/attention/partial.hpp>
#include <dimwise/expr/elements/elementwise.hpp>
#include <dimwise/expr/elements/rounding.hpp>
#include <dimwise/expr/masks/mask.hpp>
#include <dimwise/expr/positions/positions.hpp>
#include <dimwise/expr/positions/rotary.hpp>
#include <dimwise/expr/rearrange/ids.hpp>
#include <dimwise/expr/rearrange/join.hpp>
#include <dimwise/expr/rearrange/restride.hpp>
#include <dimwise/expr/rows/reduce.hpp>

#include <string_view>

namespace dimwise::nn::detail {

using namespace dimwise::detail;

/// The result of a formula in which an operation rejects its operands; it holds the error.
// The error is not a template argument of the type: argument-dependent lookup in clang would complete it.
template <class Error>
struct refused_by {
  struct refusal {
    using refused_error = Error;
  };
};
template <>
struct refused_by<already_refused> {
  using refusal = already_refused;
};
template <class Error>
using refusal = typename refused_by<Error>::refusal;

template <class X>
inline constexpr bool is_refusal = requires { typename X::refused_error; };

/// An argument of a formula: an operand, or the refusal of another formula.
template <class X>
concept input = operand<X> || is_refusal<X>;

template <class... X>
struct first_refusal;
template <class X, class... Rest>
struct first_refusal<X, Rest...> : first_refusal<Rest...> {};
template <class X, class... Rest>
  requires is_refusal<X>
struct first_refusal<X, Rest...> {
  using type = X;
};

// The error types of rules are undefined, or assert their message when they are completed.
#if defined(DIMWISE_DETAIL_MESSAGES)
template <class Result>
concept defined = !dimwise::detail::is_error<Result>;
#else
template <class Result>
concept defined = requires { sizeof(Result); };
#endif

// The module inside its own class: clang treats it as incomplete unless its type depends on the operands.
template <class Module, class... Given>
const Module& complete();

// The verdict of a formula, from the type of its result.
template <class Result>
struct verdict_of {
  using type = accepted<Result>;
};
template <class Result>
  requires(is_refusal<Result> && !std::is_same_v<Result, already_refused>)
struct verdict_of<Result> {
  using type = typename Result::refused_error;
};

/// f(x…), unless f rejects it or one of the operands is a refusal.
template <class F, class... X>
auto attempt(const F& f, [[maybe_unused]] const X&... x) {
  if constexpr ((is_refusal<X> || ...)) {
    return typename first_refusal<X...>::type();
  } else if constexpr (defined<decltype(f(x...))>) {
    return f(x...);
  } else {
    return refusal<decltype(f(x...))>();
  }
}

// Whether Next is tracked and State is not.
template <class State, class Next>
inline constexpr bool is_untracked_beside = false;
template <operand State, operand Next>
inline constexpr bool is_untracked_beside<State, Next> =
    !is_tracked_type<value_of<State>> && is_tracked_type<value_of<Next>>;

namespace functions {

#define DIMWISE_DETAIL_WORD(word, name)                            \
  template <class... D, class... X>                                \
  auto word([[maybe_unused]] const X&... x) {                      \
    if constexpr ((is_refusal<X> || ...)) {                        \
      return typename first_refusal<X...>::type();                 \
    } else if constexpr (defined<decltype(dimwise::name(x...))>) { \
      return dimwise::name(x...);                                  \
    } else {                                                       \
      return refusal<decltype(dimwise::name(x...))>();             \
    }                                                              \
  }
DIMWISE_DETAIL_WORD(plus, operator+)
DIMWISE_DETAIL_WORD(minus, operator-)
DIMWISE_DETAIL_WORD(times, operator*)
DIMWISE_DETAIL_WORD(quotient, operator/)
DIMWISE_DETAIL_WORD(contract, contract<D...>)
DIMWISE_DETAIL_WORD(scores, scores<D...>)
DIMWISE_DETAIL_WORD(scaled, scaled<D...>)
DIMWISE_DETAIL_WORD(unscaled, unscaled)
DIMWISE_DETAIL_WORD(masked, masked)
DIMWISE_DETAIL_WORD(biased, biased)
DIMWISE_DETAIL_WORD(softmax, softmax<D...>)
DIMWISE_DETAIL_WORD(renormalise, renormalise<D...>)
DIMWISE_DETAIL_WORD(partial_attention, partial_attention<D...>)
DIMWISE_DETAIL_WORD(norm, norm<D...>)
DIMWISE_DETAIL_WORD(layer_norm, layer_norm<D...>)
DIMWISE_DETAIL_WORD(rms_norm, rms_norm<D...>)
DIMWISE_DETAIL_WORD(rotary, rotary<D...>)
DIMWISE_DETAIL_WORD(sigmoid, sigmoid)
DIMWISE_DETAIL_WORD(tanh_of, tanh)
DIMWISE_DETAIL_WORD(gather, gather<D...>)
DIMWISE_DETAIL_WORD(rename, rename<D...>)
DIMWISE_DETAIL_WORD(part, part<D...>)
DIMWISE_DETAIL_WORD(concat, concat<D...>)
DIMWISE_DETAIL_WORD(broadcast_like, broadcast_like)
DIMWISE_DETAIL_WORD(widened, widened)
DIMWISE_DETAIL_WORD(dequantised_of, dequantised<D...>)
DIMWISE_DETAIL_WORD(quantised, quantised<D...>)
DIMWISE_DETAIL_WORD(rounded, rounded<D...>)
#undef DIMWISE_DETAIL_WORD

/// Evaluates an expression to a tensor; returns other arguments unchanged.
template <class X>
auto stored(X&& x) {
  using given = std::remove_cvref_t<X>;
  if constexpr (!operand<given>) {
    return static_cast<given>(static_cast<X&&>(x));
  } else if constexpr (is_tensor<given>) {
    return given(static_cast<X&&>(x));
  } else {
    return tensor(x);
  }
}

/// Evaluates an expression in training, so that the backward pass does not recompute it; returns other x unchanged.
template <class X>
auto kept_for_gradient(const X& x) {
  if constexpr (operand<X>) {
    if constexpr (is_tracked_type<value_of<X>> && !in_memory<X>) {
      return tensor(x);
    } else {
      return x;
    }
  } else {
    return x;
  }
}

/// x as a value of type To, which declares its dimensions and marks. The value is tracked if x is. An error names `Op`.
template <class To, class Op = op::assign, class X>
auto evaluated_as(X&& x) {
  using given = std::remove_cvref_t<X>;
  if constexpr (is_refusal<given>) {
    return given();
  } else if constexpr (refused<rule::assign<shape_of<To>, shape_of<given>, Op>>) {
    return refusal<rule::assign<shape_of<To>, shape_of<given>, Op>>();
  } else if constexpr (is_untracked_beside<To, given>) {
    return tensor_of<value_of<given>, shape_of<To>>(static_cast<X&&>(x));
  } else if constexpr (!fits<value_of<To>, value_of<given>>) {
    return refusal<operand_elements_error<value_of<To>, given, Op>>();
  } else {
    return To(static_cast<X&&>(x));
  }
}

/// An operand that a module reads more than once: evaluates an expression, and returns other x without a copy.
template <class X>
decltype(auto) materialised(const X& x) {
  if constexpr (operand<X> && !in_memory<X>) {
    return tensor(x);
  } else {
    return (x);
  }
}

/// x, which must have the dimension D of the module's type (R1).
template <class D, class X>
decltype(auto) having(const X& x) {
  if constexpr (is_refusal<X>) {
    return (x);
  } else if constexpr (is_in<D, dims_t<shape_of<X>>>) {
    return (x);
  } else {
    return refusal<missing_t<op::scores, list<D>, shape_of<X>>>();
  }
}

/// The state after `count` calls of `step(i, state)`; each returns a value of the state's type. An untracked state
/// becomes a tracked constant if a step returns a tracked value.
template <class State, class Step>
auto repeated(std::size_t count, [[maybe_unused]] State state, [[maybe_unused]] const Step& step) {
  if constexpr (is_refusal<State>) {
    return state;
  } else if constexpr (is_untracked_beside<State, decltype(step(count, state))>) {
    return repeated(count, tensor_of<value_of<decltype(step(count, state))>, shape_of<State>>(state), step);
  } else {
    using next = decltype(evaluated_as<State>(step(count, state)));
    if constexpr (std::is_same_v<next, State>) {
      for (std::size_t i = 0; i < count; ++i) { state = evaluated_as<State>(step(i, state)); }
      return state;
    } else {
      return next();  // a refusal
    }
  }
}

}  // namespace functions

// The formula of a module, or what it returns as a function. Rejects arguments that it does not take (R1). `decltype`
// alone does not complete an error, which clang would print where it is asked for.
template <class Module, class... X>
auto formula_of(const Module& module, const X&... x) {
  if constexpr (requires { module.formula(x...); }) {
    return module.formula(x...);
  } else if constexpr (requires { typename std::type_identity<decltype(module(x...))>; } || (is_refusal<X> || ...)) {
    return attempt(module, x...);
  } else {
    return refusal<ERROR_R1_module_takes_other_arguments<Module, over<X...>>>();
  }
}
template <class Module, class... X>
auto call(const Module& module, const X&... x) {
  return functions::stored(formula_of(module, x...));
}

// g++ requires a definition of a function that takes a local type such as a lambda's; without one it reports a second
// error. A deleted function with a macro in its declaration takes six lines, so other types do without.
#if defined(__GNUC__) && !defined(__clang__)
template <class T>
consteval bool is_local() {
  const std::string_view name = __PRETTY_FUNCTION__;
  return name.find("<lambda", name.find("T = ")) != std::string_view::npos ||
         name.find(")::", name.find("T = ")) != std::string_view::npos;
}
template <class... Given>
inline constexpr bool deleted_where_refused = ((std::is_class_v<Given> && !operand<Given> && is_local<Given>()) || ...);
#else
template <class... Given>
inline constexpr bool deleted_where_refused = false;
#endif

}  // namespace dimwise::nn::detail

// The verdict of a formula, from its result.
#define DIMWISE_DETAIL_VERDICT(...) typename dimwise::nn::detail::verdict_of<decltype(__VA_ARGS__)>::type
#define DIMWISE_DETAIL_VERDICT_OF(module, formula) \
  DIMWISE_DETAIL_VERDICT(dimwise::nn::detail::complete<module, Given...>().formula(std::declval<const Given&>()...))

// The call operator of a module: returns the evaluated formula, or the error as its type (CONTRIBUTING, "Add an
// operation"). A macro, because a module is an aggregate: a base class would be one more member to initialise.
#define DIMWISE_DETAIL_CALL(module, name, formula)                                                                 \
  template <class... Given, class Verdict = DIMWISE_DETAIL_VERDICT_OF(module, formula)>                            \
    requires(allowed<Verdict> && !(dimwise::detail::refused_operand<Given> || ...))                                \
  [[nodiscard]] auto name(const Given&... given) const {                                                           \
    return dimwise::nn::detail::functions::stored(formula(given...));                                              \
  }                                                                                                                \
  template <class... Given, class Verdict = DIMWISE_DETAIL_VERDICT_OF(module, formula)>                            \
    requires(refused<Verdict> && !dimwise::nn::detail::deleted_where_refused<Given...>)                            \
  Verdict name(const Given&... given) const;                                                                       \
  template <class... Given, class Verdict = DIMWISE_DETAIL_VERDICT_OF(module, formula)>                            \
    requires(refused<Verdict> && dimwise::nn::detail::deleted_where_refused<Given...>)                             \
  Verdict name(const Given&... given) const = delete;                                                              \
  template <class... Given, class Error = ERROR_R1_module_takes_other_arguments<module, dimwise::over<Given...>>>  \
    requires(                                                                                                      \
        !(dimwise::detail::refused_operand<Given> || ...) &&                                                       \
        !requires(const Given&... given) { dimwise::nn::detail::complete<module, Given...>().formula(given...); }) \
  Error name(const Given&... given) const;                                                                         \
  template <class... Given>                                                                                        \
    requires(dimwise::detail::refused_operand<Given> || ...)                                                       \
  dimwise::detail::already_refused name(Given... given) const
