// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/elements/derivative.hpp -- the derivatives of the functions that go over elements.
//
// Layer: expr. A user's function object that `map` takes has the member `derivative(x)`.
// Tests: tests/grad/operations/elements.test.cpp
#pragma once

#include <dimwise/expr/elements/functions.hpp>
#include <dimwise/support/math.hpp>

#include <cstddef>

namespace dimwise::fn {

// The partial derivative by the I-th argument: NaN at NaN, and at an infinity and at a zero of either sign the limit of
// the derivatives (docs/reference/special_values.md).
#define DIMWISE_DETAIL_DERIVATIVE(word, ...) \
  template <std::size_t, class T>            \
  T partial_of(word, [[maybe_unused]] T x) { \
    return __VA_ARGS__;                      \
  }
DIMWISE_DETAIL_DERIVATIVE(negate, T(-1))
DIMWISE_DETAIL_DERIVATIVE(square, T(2) * x)
DIMWISE_DETAIL_DERIVATIVE(sqrt, T(0.5) / detail::math::sqrt(x + T(0)))  // +∞ at −0
DIMWISE_DETAIL_DERIVATIVE(exp, detail::math::exp(x))
DIMWISE_DETAIL_DERIVATIVE(log, T(1) / (x + T(0)))  // +∞ at −0
DIMWISE_DETAIL_DERIVATIVE(sin, detail::math::cos(x))
DIMWISE_DETAIL_DERIVATIVE(cos, -detail::math::sin(x))
DIMWISE_DETAIL_DERIVATIVE(erf, T(1.12837916709551257390) * detail::math::exp(-x * x))
// 0 at 0, as elsewhere in the field; at NaN x itself.
DIMWISE_DETAIL_DERIVATIVE(abs, x > T(0) ? T(1) : (x < T(0) ? T(-1) : x))
DIMWISE_DETAIL_DERIVATIVE(relu, x > T(0) ? T(1) : (x <= T(0) ? T(0) : x))
// e^−|x| / (1 + e^−|x|)²: σ (1 − σ) has no digit left where σ is nearly 1.
template <std::size_t, class T>
T partial_of(sigmoid, T x) {
  const T e = detail::math::exp(-detail::math::fabs(x));
  return e / ((T(1) + e) * (T(1) + e));
}
// 4 σ′(2x): 1 − tanh² has no digit left where tanh is nearly 1.
DIMWISE_DETAIL_DERIVATIVE(tanh, T(4) * partial_of<0>(sigmoid{}, x + x))
DIMWISE_DETAIL_DERIVATIVE(softplus, sigmoid{}(x))
DIMWISE_DETAIL_DERIVATIVE(silu, sigmoid{}(x) + times_vanishing(x, partial_of<0>(sigmoid{}, x)))
// Φ(x) + x φ(x)
template <std::size_t, class T>
T partial_of(gelu, T x) {
  const T inverse_root_of_two = T(0.70710678118654752440);
  const T inverse_root_of_two_pi = T(0.39894228040143267794);
  return T(0.5) * detail::math::erfc(-x * inverse_root_of_two) +
         times_vanishing(x, inverse_root_of_two_pi * detail::math::exp(T(-0.5) * x * x));
}
// x σ(v) with v = 2√(2/π)(x + 0.044715 x³). The derivative of σ falls to 0 long before v′ overflows.
template <std::size_t, class T>
T partial_of(gelu_tanh, T x) {
  const T v = T(1.5957691216057307118) * (x + T(0.044715) * x * x * x);
  const T turn = times_vanishing(x, partial_of<0>(sigmoid{}, v));
  return sigmoid{}(v) + times_vanishing(T(1.5957691216057307118) * (T(1) + T(0.134145) * x * x), turn);
}
#undef DIMWISE_DETAIL_DERIVATIVE

// Of several arguments.
template <std::size_t I, class T>
T partial_of(divide, T a, T b) {
  return I == 0 ? T(1) / b : -(a / b) / b;  // b² may overflow
}
template <std::size_t I, class T>
T partial_of(pow, T x, T y) {
  if constexpr (I == 0) {
    return y == T(0) ? T(0) : y * detail::math::pow(x, y - T(1));
  } else {
    return x == T(0) && y >= T(0) ? T(0) : times_vanishing(detail::math::log(x), detail::math::pow(x, y));
  }
}
// Of equal arguments the first has the derivative 1.
template <std::size_t I, class T>
T partial_of(larger, T a, T b) {
  return (a < b) == (I == 1) ? T(1) : T(0);
}
template <std::size_t I, class T>
T partial_of(smaller, T a, T b) {
  return (b < a) == (I == 1) ? T(1) : T(0);
}
template <std::size_t I, class T>
T partial_of(clamp, T x, T low, T high) {
  const std::size_t taken = (x < low ? low : x) > high ? 2 : (x < low ? 1 : 0);
  return taken == I ? T(1) : T(0);
}

// How every adjoint multiplies: F, `multiply` or `divide`, of the gradient and a local derivative. A gradient of 0 is
// passed on as 0, whatever the derivative is: elements that `where` or a mask discards may be infinite or NaN, and
// 0 · ∞ would be NaN. A kernel needs a comparison and a blend for it, while it waits for memory.
template <class F>
struct sent {
  static constexpr const char* name = F::name;
  template <class T>
  constexpr T operator()(T g, T derivative) const {
    return g == T(0) ? g : F{}(g, derivative);
  }
};
template <class T>
constexpr T sent_times(T g, T derivative) {
  return sent<multiply>{}(g, derivative);
}

// The gradient of a function's I-th argument: that of the result times the I-th partial derivative at x….
template <class F, std::size_t I>
struct chain {
  static constexpr const char* name = F::name;
  template <class T, class... X>
  T operator()(T g, X... x) const {
    return sent_times(g, partial_of<I>(F{}, x...));
  }
};
// The same for a function that no kernel has: a user's own, or that of a loss.
template <class F, std::size_t I>
struct own_chain {
  F f;
  template <class T, class... X>
  T operator()(T g, X... x) const {
    if (g == T(0)) { return g; }  // the derivative is not called
    if constexpr (requires { f.template derivative<I>(x...); }) {
      return g * static_cast<T>(f.template derivative<I>(x...));
    } else if constexpr (requires { f.derivative(x...); }) {
      return g * static_cast<T>(f.derivative(x...));
    } else {
      return g * partial_of<I>(f, x...);
    }
  }
};
template <class F, class... T>
concept has_partial_derivatives = requires(const F& f, T... x) { partial_of<0>(f, x...); };

}  // namespace dimwise::fn
