// dimwise/kernels/math_gradient.hpp -- the derivatives of the functions of math.hpp, a register at a time.
//
// Layer: kernels. Includes: math.hpp.
// Tests: tests/kernels/rows/backward.test.cpp
//
// The derivative at -inf, inf and 0 is its limit, except that those of abs and relu at 0 are 0; at NaN it is NaN.
// Vanishing derivatives (sigmoid, tanh, gelu at large x) keep their relative accuracy.
//
//   floats<Arch> derivative = derivative_of<Arch>(function::gelu, x);
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/table.hpp>
#include <dimwise/kernels/map.hpp>
#include <dimwise/kernels/math.hpp>

#include <cstddef>

// A value that a switch does not handle fails to compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail {

// e^-|x| / (1 + e^-|x|)^2: the derivative of the sigmoid; that of tanh(x / 2) is twice as large.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> sigmoid_derivative(const floats<Arch>& x) noexcept {
  const floats<Arch> e = exp_any<Arch>(broadcast<Arch>(0.0F) - magnitude<Arch>(x));
  const floats<Arch> more = broadcast<Arch>(1.0F) + e;
  return e / (more * more);
}

// Phi(x) + x phi(x).
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> gelu_derivative(const floats<Arch>& x) noexcept {
  using vec = floats<Arch>;
  // As in gelu_of: Phi(-y) = e^(-y^2 / 2) R / 2 of y = |x|.
  const vec one = broadcast<Arch>(1.0F);
  const vec y = at_most<Arch>(magnitude<Arch>(x), last_normal_tail<Arch>);
  const vec half = y * broadcast<Arch>(0.5F);
  const vec bell = exp_any<Arch>(broadcast<Arch>(0.0F) - y * half);
  const vec tail = bell * broadcast<Arch>(0.5F) * normal_tail_factor<Arch>(y);
  const vec turn = y * bell * broadcast<Arch>(element_of<Arch>(0.3989422804014327));
  return select<Arch>(x < broadcast<Arch>(0.0F), tail - turn, one - (tail - turn));
}

// s + x s (1 - s) u'(x) for s = sigmoid(u), the derivative of f(x) = x s.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> gated_derivative(const floats<Arch>& x, const floats<Arch>& u,
                                                                       const floats<Arch>& u_derivative) noexcept {
  const floats<Arch> one = broadcast<Arch>(1.0F);
  const floats<Arch> e = exp_any<Arch>(broadcast<Arch>(0.0F) - magnitude<Arch>(u));
  const floats<Arch> inverse = one / (one + e);
  const floats<Arch> s = select<Arch>(u < broadcast<Arch>(0.0F), e, one) * inverse;
  return fma<Arch>(x * u_derivative, e * inverse * inverse, s);
}

template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> within(const floats<Arch>& x, element_of<Arch> limit) noexcept {
  return at_least<Arch>(at_most<Arch>(x, limit), -limit);
}

}  // namespace detail

/// The derivative of `f` at `x`; 1 for `none`.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> derivative_of(function f, const floats<Arch>& x) noexcept {
  using vec = floats<Arch>;
  const vec zero = broadcast<Arch>(0.0F);
  const vec one = broadcast<Arch>(1.0F);
  switch (f) {
    case function::none:
      return one;
    case function::relu:
      return select<Arch>(x > zero, one, select<Arch>(x <= zero, zero, x));
    case function::gelu:
      return detail::gelu_derivative<Arch>(x);
    case function::gelu_tanh: {
      using T = element_of<Arch>;
      const vec y = detail::within<Arch>(x, in_doubles<Arch> ? 25.0F : 15.0F);
      const vec square = y * y;
      return detail::gated_derivative<Arch>(
          y, y * fma<Arch>(square, broadcast<Arch>(T(0.07135481627260025)), broadcast<Arch>(T(1.5957691216057308))),
          fma<Arch>(square, broadcast<Arch>(T(0.21406444881780073)), broadcast<Arch>(T(1.5957691216057308))));
    }
    case function::silu: {
      const vec y = detail::within<Arch>(x, detail::last_sigmoid<Arch>);
      return detail::gated_derivative<Arch>(y, y, one);
    }
    case function::sigmoid:
      return detail::sigmoid_derivative<Arch>(x);
    case function::tanh:
      return broadcast<Arch>(4.0F) * detail::sigmoid_derivative<Arch>(x + x);
    case function::exp:
      return exp_of{}(x);
    case function::log:
      return one / (x + zero);  // inf at -0
    case function::erf: {
      const vec y = detail::at_most<Arch>(detail::magnitude<Arch>(x), in_doubles<Arch> ? 30.0F : 12.0F);
      return broadcast<Arch>(element_of<Arch>(1.1283791670955126)) * detail::exp_any<Arch>(zero - y * y);
    }
    case function::sqrt:
      return broadcast<Arch>(0.5F) / sqrt_of{}(x + zero);
    case function::abs:
      return select<Arch>(x > zero, one, select<Arch>(x < zero, zero - one, x * zero));
    case function::square:
      return x + x;
    case function::sin:
      return cos_of{}(x);
    case function::cos:
      return zero - sin_of{}(x);
    case function::softplus:
      return sigmoid_of{}(x);
    case function::negate:
      return zero - one;
  }
  return one;
}

/// out[i] = g[i] f'(x[i]), but 0 if g[i] is 0, even if the derivative is infinite or NaN: x may be a discarded element.
/// `out` may be `x` or `g`.
template <class Arch = default_arch>
void map_gradient(function f, std::size_t n, const element_of<Arch>* x, const element_of<Arch>* g,
                  element_of<Arch>* out) noexcept {
  zip_floats<Arch>(n, x, g, out, [f](const floats<Arch>& at, const floats<Arch>& gradient) {
    return sent_of<multiply_of>{}(gradient, derivative_of<Arch>(f, at));
  });
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

#pragma GCC diagnostic pop
