// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/math_float.hpp -- the functions of math.hpp in float, where the algorithm depends on the precision.
//
// Layer: kernels. Includes: polynomial.hpp, simd.hpp and light standard headers only.
// Tests: tests/kernels/math.test.cpp (errors measured there)
//
// math_double.hpp has overloads of the same names for double. Constants are those of minimax polynomials.
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/polynomial.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

// Shifts between an integer exponent and its bits in a float; the right shift is arithmetic. AVX-512 uses the masked
// forms, because the plain intrinsics make g++-12 warn of an uninitialized value in its own header.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline ints<Arch> to_exponent(const ints<Arch>& n) noexcept {
#if XSIMD_WITH_AVX512F
  if constexpr (is_avx512<Arch>) return ints<Arch>(_mm512_maskz_slli_epi32(0xFFFF, n.data, 23));
#endif
  if constexpr (!is_avx512<Arch>) return n << 23;
}

template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> from_exponent(const ints<Arch>& bits) noexcept {
#if XSIMD_WITH_AVX512F
  if constexpr (is_avx512<Arch>) {
    return floats<Arch>(_mm512_maskz_cvtepi32_ps(0xFFFF, _mm512_maskz_srai_epi32(0xFFFF, bits.data, 23)));
  }
#endif
  if constexpr (!is_avx512<Arch>) return xsimd::to_float(bits >> 23);
}

// 2^n for n in [-126, 127].
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> power_of_two(const ints<Arch>& n) noexcept {
  return as_floats<Arch>(to_exponent<Arch>(n + ints<Arch>(127)));
}

// e^x = 2^exponent (1 + rest), |rest| < 0.42, for |x| < 1e6.
template <class Arch>
struct exp_parts {
  floats<Arch> rest;      // with a small relative error, even near 0
  floats<Arch> exponent;  // an integer
  ints<Arch> power;       // the same integer
};

template <class Arch>
  requires(!in_doubles<Arch>)
[[nodiscard, gnu::always_inline]] inline exp_parts<Arch> split_exp(const floats<Arch>& x) noexcept {
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits of the mantissa.
  const floats<Arch> round_shift = broadcast<Arch>(12582912.0F);
  const floats<Arch> shifted = fma<Arch>(x, broadcast<Arch>(1.44269504F), round_shift);
  const floats<Arch> exponent = shifted - round_shift;
  // ln 2 in two parts: the first is so short that its product with an exponent is exact even without an fma.
  floats<Arch> r = fma<Arch>(exponent, broadcast<Arch>(-0.693359375F), x);
  r = fma<Arch>(exponent, broadcast<Arch>(2.12194440e-4F), r);
  // Minimax of (e^r - 1 - r) / r^2 for the relative error of e^r - 1 on |r| <= ln(2) / 2: 2^-26.2.
  const floats<Arch> q = polynomial<Arch>(r, 0.00138825236F, 0.008366514F, 0.0416672006F, 0.166665435F, 0.49999997F);
  return {fma<Arch>(r * r, q, r), exponent, as_ints<Arch>(shifted) - as_ints<Arch>(round_shift)};
}

template <class Arch>
  requires(!in_doubles<Arch>)
[[nodiscard, gnu::always_inline]] inline floats<Arch> exp_any(const floats<Arch>& x) noexcept {
  // Beyond these bounds the result is 0 or inf; within them the integer arithmetic below cannot overflow.
  const exp_parts<Arch> e = split_exp<Arch>(at_most<Arch>(at_least<Arch>(x, -104.0F), 89.0F));
  const floats<Arch> mantissa = broadcast<Arch>(1.0F) + e.rest;
#if XSIMD_WITH_AVX512F
  if constexpr (is_avx512<Arch>) {
    return floats<Arch>(_mm512_maskz_scalef_ps(0xFFFF, mantissa.data, e.exponent.data));
  }
#endif
  if constexpr (!is_avx512<Arch>) {
    // In two steps: 2^-149 and 2^128 are not usable as float factors, and a subnormal result is rounded once.
    const ints<Arch> half = e.power >> 1;
    return mantissa * power_of_two<Arch>(half) * power_of_two<Arch>(e.power - half);
  }
}

// tanh(y) for y >= 0: (e^2y - 1) / (e^2y + 1) with e^2y - 1 free of cancellation, so that one formula suffices near 0.
template <class Arch>
  requires(!in_doubles<Arch>)
[[nodiscard, gnu::always_inline]] inline floats<Arch> tanh_of_magnitude(const floats<Arch>& size) noexcept {
  const floats<Arch> y = at_most<Arch>(size, 10.0F);
  const exp_parts<Arch> e = split_exp<Arch>(y + y);
  const floats<Arch> scale = power_of_two<Arch>(e.power);
  const floats<Arch> less_one = fma<Arch>(scale, e.rest, scale - broadcast<Arch>(1.0F));
  return less_one / (less_one + broadcast<Arch>(2.0F));
}

// erf(z) / z - 1 in z^2 on [0, 1], relative error of erf 2^-29.6.
template <class Arch>
  requires(!in_doubles<Arch>)
[[nodiscard, gnu::always_inline]] inline floats<Arch> erf_ratio(const floats<Arch>& square) noexcept {
  return polynomial<Arch>(square, 7.85386292e-05F, -0.000801019429F, 0.00518832775F, -0.0268538129F, 0.112835854F,
                          -0.37612626F, 0.128379166F);
}

// e^(z^2) erfc(z) = R(1 / (1 + 0.4 z)) for z in [0, 10], relative error 2^-25.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> scaled_erfc(const floats<Arch>& t) noexcept {
  return polynomial<Arch>(t, 0.0286952592F, -0.0747462437F, -0.0636928603F, 0.275797099F, -0.0685741603F, 0.268641561F,
                          0.177415013F, 0.231355414F, 0.225082546F, 2.6406693e-05F);
}

// log(x) for any x, plus a number that is added before the last rounding, if any.
template <class Arch, class... More>
  requires(!in_doubles<Arch>)
[[nodiscard, gnu::always_inline]] inline floats<Arch> log_any(const floats<Arch>& x, const More&... more) noexcept {
  using vec = floats<Arch>;
  const vec zero = broadcast<Arch>(0.0F);
  const auto subnormal = x < broadcast<Arch>(std::numeric_limits<float>::min());
  const vec normal = select<Arch>(subnormal, x * broadcast<Arch>(8388608.0F), x);
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)): subtracting the bits of sqrt(1/2) carries into the exponent as needed.
  const ints<Arch> bits = as_ints<Arch>(normal) - ints<Arch>(0x3F3504F3);
  const vec f = as_floats<Arch>((bits & ints<Arch>(0x007FFFFF)) + ints<Arch>(0x3F3504F3)) - broadcast<Arch>(1.0F);
  const vec e = from_exponent<Arch>(bits) - select<Arch>(subnormal, broadcast<Arch>(23.0F), zero);
  // log(1 + f) = f - f^2 / 2 + f^3 P(f), minimax of the relative error: 2^-30.
  const vec p = polynomial<Arch>(f, 0.0674660876F, -0.116755992F, 0.118881479F, -0.124055967F, 0.142195553F,
                                 -0.166679949F, 0.200021178F, -0.250000089F, 0.333333135F);
  const vec square = f * f;
  vec rest = fma<Arch>(square * f, p, ((e * broadcast<Arch>(-2.12194440e-4F)) + ... + more));
  rest = fma<Arch>(square, broadcast<Arch>(-0.5F), rest);
  const vec finite = fma<Arch>(e, broadcast<Arch>(0.693359375F), rest + f);
  vec out = select<Arch>(x < broadcast<Arch>(infinity), finite, x);  // log(inf) is inf, log(NaN) is NaN
  out = select<Arch>(x == zero, broadcast<Arch>(-infinity), out);
  return select<Arch>(x < zero, broadcast<Arch>(std::numeric_limits<float>::quiet_NaN()), out);
}

// The rounding error of the product of y and half, which is y / 2; 0 without an fma.
template <class Arch>
  requires(!in_doubles<Arch>)
[[nodiscard, gnu::always_inline]] inline floats<Arch> lost_of_square(
    [[maybe_unused]] const floats<Arch>& y, [[maybe_unused]] const floats<Arch>& half,
    [[maybe_unused]] const floats<Arch>& product) noexcept {
  return has_fma<Arch> ? fma<Arch>(y, half, broadcast<Arch>(0.0F) - product) : broadcast<Arch>(0.0F);
}

// sin(x + quarters · π/2). The argument is reduced by π/2 in four parts, the first three so short that their products
// with a multiple below 2^13 are exact (Cody and Waite 1980; the parts are those of SLEEF, halved). Larger arguments,
// NaN and infinities use the standard library, lane by lane.
template <class Arch>
  requires(!in_doubles<Arch>)
[[nodiscard, gnu::always_inline]] inline floats<Arch> sine(const floats<Arch>& x, std::int32_t quarters) noexcept {
  constexpr float largest = 8192.0F;
  const floats<Arch> size = magnitude<Arch>(x);
  const mask<Arch> small = size <= broadcast<Arch>(largest);
  const floats<Arch> near = select<Arch>(small, x, broadcast<Arch>(0.0F));
  const floats<Arch> round_shift = broadcast<Arch>(12582912.0F);
  const floats<Arch> shifted = fma<Arch>(near, broadcast<Arch>(0.636619772F), round_shift);
  const floats<Arch> multiple = shifted - round_shift;
  const ints<Arch> quarter = as_ints<Arch>(shifted) - as_ints<Arch>(round_shift) + ints<Arch>(quarters);
  floats<Arch> r = fma<Arch>(multiple, broadcast<Arch>(-1.5703125F), near);
  r = fma<Arch>(multiple, broadcast<Arch>(-0.00048351287841796875F), r);
  r = fma<Arch>(multiple, broadcast<Arch>(-3.13855707645416259765625e-07F), r);
  r = fma<Arch>(multiple, broadcast<Arch>(-6.077100628276710381e-11F), r);
  const floats<Arch> square = r * r;
  // Minimax polynomials of sin and cos on |r| <= π/4 (Cephes).
  const floats<Arch> odd =
      fma<Arch>(r * square, polynomial<Arch>(square, -1.9515295891e-4F, 8.3321608736e-3F, -1.6666654611e-1F), r);
  const floats<Arch> even = fma<Arch>(
      square * square, polynomial<Arch>(square, 2.443315711809948e-5F, -1.388731625493765e-3F, 4.166664568298827e-2F),
      fma<Arch>(square, broadcast<Arch>(-0.5F), broadcast<Arch>(1.0F)));
  const ints<Arch> zero(0);
  const floats<Arch> value = select<Arch>(as_mask<Arch>((quarter & ints<Arch>(1)) == zero), odd, even);
  const floats<Arch> turned = as_floats<Arch>(as_ints<Arch>(value) ^ ints<Arch>(sign_bit));
  floats<Arch> out = select<Arch>(as_mask<Arch>((quarter & ints<Arch>(2)) == zero), value, turned);
  if (quarters == 0) out = select<Arch>(x == broadcast<Arch>(0.0F), x, out);  // sin(-0) is -0
  if (xsimd::all(small)) return out;
  alignas(64) float in[lanes<Arch>];
  alignas(64) float results[lanes<Arch>];
  store_aligned<Arch>(&in[0], x);
  store_aligned<Arch>(&results[0], out);
  for (std::size_t i = 0; i < lanes<Arch>; ++i) {
    if (!(in[i] <= largest && in[i] >= -largest)) results[i] = quarters == 0 ? ::sinf(in[i]) : ::cosf(in[i]);
  }
  return load_aligned<Arch>(&results[0]);
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
