// dimwise/kernels/polynomial.hpp -- polynomials, signs and bounds of registers of float or double, for math.hpp.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only.
// Tests: tests/kernels/math.test.cpp, tests/kernels/math_double.test.cpp
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>
#include <limits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

// A polynomial by Horner's method, from the highest coefficient down.
template <class Arch, class... Rest>
[[nodiscard, gnu::always_inline]] inline floats<Arch> polynomial(const floats<Arch>& x, element_of<Arch> first,
                                                                 Rest... rest) noexcept {
  floats<Arch> sum = broadcast<Arch>(first);
  ((sum = fma<Arch>(sum, x, broadcast<Arch>(rest))), ...);
  return sum;
}

// The same in two halves, those of even and of odd powers: half the latency, for one more product. `square` is x^2.
template <class Arch, class... Coefficient>
[[nodiscard, gnu::always_inline]] inline floats<Arch> polynomial_by_halves(const floats<Arch>& x,
                                                                           const floats<Arch>& square,
                                                                           Coefficient... coefficient) noexcept {
  constexpr std::size_t count = sizeof...(Coefficient);
  static_assert(count >= 2, "dimwise: a polynomial of one coefficient has no halves");
  const element_of<Arch> all[] = {coefficient...};
  floats<Arch> half[2] = {broadcast<Arch>(all[0]), broadcast<Arch>(all[1])};
#pragma GCC unroll 32
  for (std::size_t i = 2; i < count; ++i) half[i % 2] = fma<Arch>(half[i % 2], square, broadcast<Arch>(all[i]));
  return count % 2 == 1 ? fma<Arch>(half[1], x, half[0]) : fma<Arch>(half[0], x, half[1]);
}

template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> magnitude(const floats<Arch>& x) noexcept {
  return as_floats<Arch>(as_ints<Arch>(x) & ints<Arch>(std::numeric_limits<integer_of<Arch>>::max()));
}

// The non-negative `value` with the sign of `x`.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> with_sign(const floats<Arch>& value,
                                                                const floats<Arch>& x) noexcept {
  return as_floats<Arch>(as_ints<Arch>(value) |
                         (as_ints<Arch>(x) & ints<Arch>(std::numeric_limits<integer_of<Arch>>::min())));
}

// Comparisons, not min and max, whose result for NaN depends on the order of operands.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> at_least(const floats<Arch>& x, element_of<Arch> low) noexcept {
  return select<Arch>(x < broadcast<Arch>(low), broadcast<Arch>(low), x);
}

template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> at_most(const floats<Arch>& x, element_of<Arch> high) noexcept {
  return select<Arch>(x > broadcast<Arch>(high), broadcast<Arch>(high), x);
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
