// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/elements/functions.hpp -- the functions that go over elements, as types that the evaluator can
// recognise.
//
// Layer: expr. Each is a function object on one element type; the kernels have their own vectorized spelling of them.
// Tests: tests/expr/elements/elementwise.test.cpp
#pragma once

#include <dimwise/support/math.hpp>

#include <type_traits>
#include <utility>

namespace dimwise::fn {

// A function: its parameters, of one type T, its name in words, and its value.
#define DIMWISE_DETAIL_OF(word, text, parameters, ...) \
  struct word {                                        \
    static constexpr const char* name = text;          \
    template <class T>                                 \
    constexpr T operator() parameters const {          \
      return __VA_ARGS__;                              \
    }                                                  \
  };
#define DIMWISE_DETAIL_UNARY(word, ...) DIMWISE_DETAIL_OF(word, #word, (T x), __VA_ARGS__)
#define DIMWISE_DETAIL_BINARY(word, text, ...) DIMWISE_DETAIL_OF(word, text, (T a, T b), __VA_ARGS__)

DIMWISE_DETAIL_BINARY(add, "+", a + b)
DIMWISE_DETAIL_BINARY(subtract, "-", a - b)
DIMWISE_DETAIL_BINARY(multiply, "*", (a * b))
DIMWISE_DETAIL_BINARY(divide, "/", a / b)
// The larger and the smaller of two numbers, the first of equal ones; NaN where one is NaN.
DIMWISE_DETAIL_BINARY(larger, "max", a != a ? a : (b != b || a < b ? b : a))
DIMWISE_DETAIL_BINARY(smaller, "min", a != a ? a : (b != b || b < a ? b : a))
// x to the power of y, as std::pow.
DIMWISE_DETAIL_BINARY(pow, "pow", detail::math::pow(a, b))

// Whole numbers, as real ones.
template <class To>
struct as_real {
  static constexpr const char* name = "as real numbers";
  template <class T>
  constexpr To operator()(T a) const {
    return static_cast<To>(a);
  }
};
// Of these functions, NaN gives NaN, and an infinity the limit of the function there
// (docs/reference/special_values.md).
DIMWISE_DETAIL_UNARY(negate, -x)
DIMWISE_DETAIL_UNARY(abs, x <= T(0) ? T(0) - x : x)
DIMWISE_DETAIL_UNARY(square, (x * x))
DIMWISE_DETAIL_UNARY(sqrt, detail::math::sqrt(x))
DIMWISE_DETAIL_UNARY(exp, detail::math::exp(x))
DIMWISE_DETAIL_UNARY(log, detail::math::log(x))
DIMWISE_DETAIL_UNARY(sin, detail::math::sin(x))
DIMWISE_DETAIL_UNARY(cos, detail::math::cos(x))
DIMWISE_DETAIL_UNARY(tanh, detail::math::tanh(x))
DIMWISE_DETAIL_UNARY(erf, detail::math::erf(x))
DIMWISE_DETAIL_UNARY(relu, x < T(0) ? T(0) : x)
struct sigmoid {
  static constexpr const char* name = "sigmoid";
  template <class T>
  T operator()(T x) const {
    if (x < T(0)) {  // never exp of a large number
      const T e = detail::math::exp(x);
      return e / (T(1) + e);
    }
    return T(1) / (T(1) + detail::math::exp(-x));
  }
};

// log(1 + e^x): its logarithm is of e^−|x|, which never overflows.
struct softplus {
  static constexpr const char* name = "softplus";
  template <class T>
  T operator()(T x) const {
    const T rest = detail::math::log1p(detail::math::exp(-detail::math::fabs(x)));
    return x > T(0) ? x + rest : rest;
  }
};

// x · p for a p that falls to 0 faster than x grows: at −∞, where the product would be NaN, it is 0.
template <class T>
T times_vanishing(T x, T p) {
  return p == T(0) ? T(0) : x * p;
}

// x Φ(x), Hendrycks and Gimpel 2016; erfc, because 1 + erf has no correct digit left where Φ is small.
DIMWISE_DETAIL_UNARY(gelu, times_vanishing(x, T(0.5) * detail::math::erfc(x * T(-0.70710678118654752440))))
// The tanh approximation of gelu in the same paper; (1 + tanh u) / 2 is the sigmoid of 2u.
DIMWISE_DETAIL_UNARY(gelu_tanh, times_vanishing(x, sigmoid{}(T(1.5957691216057307118) * (x + T(0.044715) * x * x * x))))
// x σ(x), also called swish.
DIMWISE_DETAIL_UNARY(silu, times_vanishing(x, sigmoid{}(x)))

// The nearest number of 16 bits: `To` is bfloat16 or float16.
template <class To>
struct rounded {
  static constexpr const char* name = "rounded";
  template <class T>
  constexpr T operator()(T x) const {
    return static_cast<T>(static_cast<float>(static_cast<To>(static_cast<float>(x))));
  }
};

// The upper bound counts where the bounds cross.
struct clamp {
  static constexpr const char* name = "clamp";
  template <class T>
  constexpr T operator()(T x, T low, T high) const {
    return smaller{}(larger{}(x, low), high);
  }
};
// An element that is not chosen has no effect, even if it is NaN.
struct choose {
  static constexpr const char* name = "where";
  template <class A, class B>
  constexpr auto operator()(bool first, A a, B b) const {
    using T = typename std::conditional_t<std::is_same_v<A, B>, std::type_identity<A>, std::common_type<A, B>>::type;
    return first ? static_cast<T>(a) : static_cast<T>(b);
  }
};

// Comparisons. Whole numbers of different signs and sizes compare by value.
template <class A, class B>
inline constexpr bool compare_by_value = std::is_integral_v<A> && std::is_integral_v<B> && !std::is_same_v<A, B>;
#define DIMWISE_DETAIL_COMPARISON(word, symbol)  \
  struct word {                                  \
    static constexpr const char* name = #symbol; \
    template <class A, class B>                  \
    constexpr bool operator()(A a, B b) const {  \
      if constexpr (compare_by_value<A, B>) {    \
        return std::cmp_##word(a, b);            \
      } else {                                   \
        return a symbol b;                       \
      }                                          \
    }                                            \
  };
DIMWISE_DETAIL_COMPARISON(less, <)
DIMWISE_DETAIL_COMPARISON(less_equal, <=)
DIMWISE_DETAIL_COMPARISON(greater, >)
DIMWISE_DETAIL_COMPARISON(greater_equal, >=)
DIMWISE_DETAIL_COMPARISON(equal, ==)
DIMWISE_DETAIL_COMPARISON(not_equal, !=)
#undef DIMWISE_DETAIL_COMPARISON

// A function of a user's own that says its derivatives: `derivative(x)` of one argument, `derivative<I>(x…)` by the
// I-th of several.
template <class F, std::size_t I, class... T>
concept says_derivative = (sizeof...(T) == 1 && requires(const F& f, T... x) { f.derivative(x...); }) ||
                          requires(const F& f, T... x) { f.template derivative<I>(x...); };

// Functions that give 0 for what is masked (−∞), so that a mask ends in them as it does in softmax.
template <class F>
inline constexpr bool ends_mask = false;
template <>
inline constexpr bool ends_mask<exp> = true;
template <>
inline constexpr bool ends_mask<sigmoid> = true;

#undef DIMWISE_DETAIL_BINARY
#undef DIMWISE_DETAIL_UNARY
#undef DIMWISE_DETAIL_OF

}  // namespace dimwise::fn
