// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/elements/elementwise.hpp -- arithmetic, activations and `map`: element by element, matched by name.
//
// Layer: expr.
//
//   x + bias        [batch, seq, d_model] + [d_model]  ->  [batch, seq, d_model]
//
// Tests: tests/expr/elements/elementwise.test.cpp, tests/compile_fail/elementwise/
#pragma once

#include <dimwise/expr/elements/functions.hpp>
#include <dimwise/expr/elements/numbers.hpp>
#include <dimwise/expr/node.hpp>
#include <dimwise/expr/operation.hpp>
#include <dimwise/shape/rules/elementwise.hpp>

namespace dimwise {

namespace detail {

// A number in an expression: an operand without dimensions.
template <class T>
struct number_of {
  static constexpr const char* name = "number";
  // Real numbers are kept in double: what is computed in float64 is not rounded to float first.
  using held = either_t<real_element<T>, double, T>;
  held value;
};
template <class T>
using constant = node<number_of<T>, shape<>, T>;
// A number has no origin: beside tracked elements it is not tracked.
template <class T>
constant<untracked_t<T>> make_constant(typename number_of<T>::held value) {
  return constant<untracked_t<T>>({value}, {});
}
template <class N>
inline constexpr bool is_constant = false;
template <class T>
inline constexpr bool is_constant<constant<T>> = true;

// F of the operands, element by element; what an operand lacks is the same for all.
template <class F>
struct apply {
  using function = F;
  [[no_unique_address]] F f;
};
template <class F>
  requires requires { F::name; }
struct apply<F> {
  static constexpr const char* name = F::name;
  using function = F;
  [[no_unique_address]] F f;
};
template <class Shape, class T, class F, class... Operands>
using elementwise = node<apply<F>, Shape, T, Operands...>;

// Temporary operands are moved: a copy of an expression copies the handle of every tensor in it.
template <class Verdict, class T, class F, class... X>
auto make_elementwise(const char* operation, F f, X&&... x) {
  using shape = typename Verdict::shape;
  auto e = extents_from<shape>(operation, x.extents()...);
  return make_node<shape, T>(apply<F>{f}, static_cast<extents_for<shape>&&>(e), static_cast<X&&>(x)...);
}

// Numbers take the element type of the tensor beside them; whole numbers become real beside real ones.
template <class T, class X>
[[gnu::always_inline]] constexpr const auto& as_operand(const X& x) {
  return x;
}
template <class T, number X>
constexpr auto as_operand(const X& x) {
  return make_constant<T>(static_cast<typename number_of<T>::held>(x));
}
template <class T, operand X>
  requires(real_element<T> && std::is_integral_v<value_of<X>>)
auto as_operand(const X& x) {
  return make_node<shape_of<X>, untracked_t<T>>(apply<fn::as_real<untracked_t<T>>>{}, x.extents(), x);
}

template <class A, class B>
struct promoted;
template <operand A, operand B>
struct promoted<A, B> {
  using type = std::common_type_t<value_of<A>, value_of<B>>;
};
template <operand A, number B>
struct promoted<A, B> {
  using type = either_t<std::is_integral_v<value_of<A>> && real_element<B>, B, value_of<A>>;
};
template <number A, operand B>
struct promoted<A, B> : promoted<B, A> {};
template <class A, class B>
using promoted_t = typename promoted<A, B>::type;

// The elements that a function of these operands gives: tracked where an operand is.
template <class F, class... X>
using mapped_plain_t = std::remove_cvref_t<std::invoke_result_t<F&, untracked_t<value_of<X>>...>>;
template <class F, class... X>
using mapped_t = either_t<real_element<mapped_plain_t<F, X...>> && (is_tracked_type<value_of<X>> || ...),
                          tracked<mapped_plain_t<F, X...>>, mapped_plain_t<F, X...>>;
// A function of tracked elements says its derivatives.
template <class F, class... X>
inline constexpr bool is_differentiable =
    !(is_tracked_type<value_of<X>> || ...) || fn::says_derivative<F, 0, untracked_t<value_of<X>>...>;

struct any_function {
  template <class F>
  any_function(const F&) {}  // implicit: anything may be called a function here
};
template <class... X>
struct function_without_derivative {
  template <class F>
    requires(!is_differentiable<F, X...>)
  function_without_derivative(const F&) {}  // implicit, as above
};

template <class A, class B>
concept operand_pair = (operand<A> && (operand<B> || number<B>)) || (number<A> && operand<B>);

template <class F, class A, class B, class Verdict>
auto make_binary(const A& a, const B& b) {
  using T = promoted_t<A, B>;
  return make_elementwise<Verdict, T>(F::name, F{}, as_operand<T>(a), as_operand<T>(b));
}
template <class F, class A, class Verdict>
auto make_unary(const A& a) {
  return make_elementwise<Verdict, value_of<A>>(F::name, F{}, a);
}

// What is added to scores is a bias, also by its elements (R13): a mask of integers is none.
template <class A, class B>
using sum_of = either_t<are_scores<A> != are_scores<B>, op::biased, op::elementwise>;
template <class A, class B>
using sum_verdict = of_numbers<sum_of<shape_or_none_t<A>, shape_or_none_t<B>>,
                               rule::added<shape_or_none_t<A>, shape_or_none_t<B>>, A, B>;
template <class A, class B>
using product_verdict = of_numbers<op::elementwise, rule::multiplied<shape_or_none_t<A>, shape_or_none_t<B>>, A, B>;
template <class A, class B>
using division_verdict = of_numbers<op::divide, rule::divided<shape_or_none_t<A>, shape_or_none_t<B>>, A, B>;

// Whole numbers stay whole under these.
template <class F>
inline constexpr bool keeps_whole_numbers = std::is_same_v<F, fn::abs> || std::is_same_v<F, fn::square> ||
                                            std::is_same_v<F, fn::negate> || std::is_same_v<F, fn::relu>;

template <class F, class Shape>
struct function_rule {
  using type = rule::map<fn::ends_mask<F>, Shape>;
};
template <class Shape>
struct function_rule<fn::exp, Shape> {
  using type = rule::exponential<Shape>;
};
template <class Shape>
struct function_rule<fn::log, Shape> {
  using type = rule::logarithm<Shape>;
};
template <class Shape>
struct function_rule<fn::negate, Shape> {
  using type = rule::negated<Shape>;
};
template <class F, class X>
using unary_verdict = of_numbers<either_t<keeps_whole_numbers<F>, op::elementwise, op::map>,
                                 typename function_rule<F, shape_of<X>>::type, X>;

namespace calls {
struct plain {
  template <operand X>
  static auto judge(list<>, const X&)
      -> accepted<make_shape_t<dims_t<shape_of<X>>, kept_marks_t<op::plain, shape_of<X>>>>;
  template <class Verdict, operand X>
  static auto make(list<>, const X& x) {
    return make_with_marks<typename Verdict::shape>(x);
  }
};
}  // namespace calls

}  // namespace detail

// Operators are looked up for types that are no operands, too: `enable_if` stops before the verdict is computed, which
// compilers do before they look at constraints.
/// Elementwise arithmetic by name. The smaller operand's dimensions are a subset of the larger's, whose order the
/// result has (tie: left); an extent of 1 never stretches. Rejects: R8, R18; by `/` also whole
/// numbers, unless they meet real ones (R13). Throws `extent_error` (R15).
#define DIMWISE_DETAIL_ARITHMETIC(symbol, function, verdict)                        \
  template <class A, class B, class = std::enable_if_t<detail::operand_pair<A, B>>, \
            class Verdict = detail::verdict<A, B>>                                  \
    requires allowed<Verdict>                                                       \
  [[nodiscard]] auto operator symbol(const A& a, const B& b) {                      \
    return detail::make_binary<function, A, B, Verdict>(a, b);                      \
  }                                                                                 \
  template <class A, class B, class = std::enable_if_t<detail::operand_pair<A, B>>, \
            class Verdict = detail::verdict<A, B>>                                  \
    requires refused<Verdict>                                                       \
  Verdict operator symbol(const A& a, const B& b);
DIMWISE_DETAIL_ARITHMETIC(+, fn::add, sum_verdict)
DIMWISE_DETAIL_ARITHMETIC(-, fn::subtract, sum_verdict)
DIMWISE_DETAIL_ARITHMETIC(*, fn::multiply, product_verdict)
DIMWISE_DETAIL_ARITHMETIC(/, fn::divide, division_verdict)
#undef DIMWISE_DETAIL_ARITHMETIC

namespace no_adl {

/// f of the elements of the operands, matched by name; the result's element type is what f returns.
///
/// f may be called more than once for an element, and by several threads at a time where an executor is given. To be
/// differentiated it says its derivative: a member `derivative(x)`, or `derivative<I>(x…)` by the I-th of several
/// arguments (R21).
/// Rejects masked operands, except that `exp` and `sigmoid` end a mask in 0 (R7); R8, R18.
template <class F, operand First, operand... X,
          class Verdict = rule::map<fn::ends_mask<F>, detail::shape_of<First>, detail::shape_of<X>...>>
  requires(
      allowed<Verdict> &&
      std::invocable<F&, detail::untracked_t<detail::value_of<First>>, detail::untracked_t<detail::value_of<X>>...> &&
      detail::is_differentiable<F, First, X...>)
[[nodiscard]] auto map(F f, const First& first, const X&... x) {
  return detail::make_elementwise<Verdict, detail::mapped_t<F, First, X...>>("map", f, first, x...);
}
// The function's own type is kept out of these signatures: a lambda has no linkage, and g++ would add an error about
// that.
template <operand First, operand... X,
          class Verdict = rule::map<false, detail::shape_of<First>, detail::shape_of<X>...>,
          class Error = ERROR_R21_operation_has_no_gradient<op::map, detail::operand_t<detail::shape_of<First>>>>
  requires allowed<Verdict>
Error map(std::type_identity_t<detail::function_without_derivative<First, X...>> f, const First& first, const X&... x);
template <operand First, operand... X,
          class Verdict = rule::map<false, detail::shape_of<First>, detail::shape_of<X>...>>
  requires refused<Verdict>
Verdict map(detail::any_function f, const First& first, const X&... x);
template <operand X, class Error = detail::argument_missing<op::map, detail::list<>, X, argument::function>>
Error map(const X& x);
DIMWISE_DETAIL_MISUSED(map)

/// Activations and elementary functions: `map` with the function of that name, with its refusals.
#define DIMWISE_DETAIL_FUNCTION(name, function)                            \
  template <operand X, class Verdict = detail::unary_verdict<function, X>> \
    requires allowed<Verdict>                                              \
  [[nodiscard]] auto name(const X& x) {                                    \
    return detail::make_unary<function, X, Verdict>(x);                    \
  }                                                                        \
  template <operand X, class Verdict = detail::unary_verdict<function, X>> \
    requires refused<Verdict>                                              \
  Verdict name(const X& x);
DIMWISE_DETAIL_FUNCTION(relu, fn::relu)
DIMWISE_DETAIL_MISUSED(relu)
DIMWISE_DETAIL_FUNCTION(gelu, fn::gelu)
DIMWISE_DETAIL_MISUSED(gelu)
DIMWISE_DETAIL_FUNCTION(gelu_tanh, fn::gelu_tanh)
DIMWISE_DETAIL_MISUSED(gelu_tanh)
DIMWISE_DETAIL_FUNCTION(silu, fn::silu)
DIMWISE_DETAIL_MISUSED(silu)
DIMWISE_DETAIL_FUNCTION(sigmoid, fn::sigmoid)
DIMWISE_DETAIL_MISUSED(sigmoid)
DIMWISE_DETAIL_FUNCTION(softplus, fn::softplus)
DIMWISE_DETAIL_MISUSED(softplus)
DIMWISE_DETAIL_FUNCTION(square, fn::square)
DIMWISE_DETAIL_MISUSED(square)

/// `x` without its marks: the visible way to say that a rule does not apply here.
DIMWISE_DETAIL_OPERATION(plain)

}  // namespace no_adl

// The names of <cmath> are found beside those of the standard library, through the argument: `log(x)` as for a number.
DIMWISE_DETAIL_FUNCTION(tanh, fn::tanh)
DIMWISE_DETAIL_FUNCTION(erf, fn::erf)
DIMWISE_DETAIL_FUNCTION(exp, fn::exp)
DIMWISE_DETAIL_FUNCTION(log, fn::log)
DIMWISE_DETAIL_FUNCTION(sqrt, fn::sqrt)
DIMWISE_DETAIL_FUNCTION(abs, fn::abs)
DIMWISE_DETAIL_FUNCTION(sin, fn::sin)
DIMWISE_DETAIL_FUNCTION(cos, fn::cos)
DIMWISE_DETAIL_FUNCTION(operator-, fn::negate)
#undef DIMWISE_DETAIL_FUNCTION

}  // namespace dimwise
