// dimwise/kernels/math.hpp -- exp, log, tanh, erf, sigmoid, softplus, gelu, silu, relu, sqrt, sin, cos and similar
// functions of any float or double, a register at a time.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only.
// Tests: tests/kernels/math.test.cpp (errors measured there; every 251st float, and the special values)
//
// Function objects, for use in epilogues and loops. Maximum measured errors, in ulp of the result:
//
//   exp 1.0 · log 0.8 · tanh 2.4 · soft cap 3.4 · erf 1.2 (1.3 without fma) · sigmoid 2.3 · silu 3.1 · softplus 1.9
//   gelu_tanh 12.4 for x >= -3 · gelu 7.1 for x >= -12.9 (without fma 12 for x >= -5, and 66 below)
//   sin, cos 2.4 · sqrt 0.5
//
// In double, with the algorithms of math_double.hpp:
//
//   exp 0.9 · log 0.9 · tanh 1.6 (1.9 without fma) · erf 1.2 · sigmoid 2.4 · silu 3.1 · sin, cos 0.9 · sqrt 0.5
//   gelu_tanh 14 for x >= -3 · gelu 6.9 for x >= -37 · softplus 1.7
//
// Speed against loops over the standard library, a million elements on AVX-512 (g++-12 -O2, one thread): erf 12 times
// as fast, log 11, sin 8.5, sqrt 3.5, square 2.4 (the last two are DRAM-bound).
//
// NaN gives NaN; infinities give the limits (silu and both gelu: a zero at -inf). Subnormal results of exp are correct.
//
//   floats<Arch> y = gelu_of{}(x);
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/math_double.hpp>
#include <dimwise/kernels/polynomial.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail {

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
[[nodiscard, gnu::always_inline]] inline floats<Arch> erf_slope(const floats<Arch>& square) noexcept {
  return polynomial<Arch>(square, 7.85386292e-05F, -0.000801019429F, 0.00518832775F, -0.0268538129F, 0.112835854F,
                          -0.37612626F, 0.128379166F);
}

// e^(z^2) erfc(z) = R(1 / (1 + 0.4 z)) for z in [0, 10], relative error 2^-25.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> scaled_erfc(const floats<Arch>& t) noexcept {
  return polynomial<Arch>(t, 0.0286952592F, -0.0747462437F, -0.0636928603F, 0.275797099F, -0.0685741603F, 0.268641561F,
                          0.177415013F, 0.231355414F, 0.225082546F, 2.6406693e-05F);
}

template <class Arch>
  requires(!in_doubles<Arch>)
[[nodiscard, gnu::always_inline]] inline floats<Arch> log_any(const floats<Arch>& x) noexcept {
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
  vec rest = fma<Arch>(square * f, p, e * broadcast<Arch>(-2.12194440e-4F));
  rest = fma<Arch>(square, broadcast<Arch>(-0.5F), rest);
  const vec finite = fma<Arch>(e, broadcast<Arch>(0.693359375F), rest + f);
  vec out = select<Arch>(x < broadcast<Arch>(infinity), finite, x);  // log(inf) is inf, log(NaN) is NaN
  out = select<Arch>(x == zero, broadcast<Arch>(-infinity), out);
  return select<Arch>(x < zero, broadcast<Arch>(std::numeric_limits<float>::quiet_NaN()), out);
}

// What the product of y and half, which is y / 2, rounds off; 0 without an fma.
template <class Arch>
  requires(!in_doubles<Arch>)
[[nodiscard, gnu::always_inline]] inline floats<Arch> lost_of_square(
    [[maybe_unused]] const floats<Arch>& y, [[maybe_unused]] const floats<Arch>& half,
    [[maybe_unused]] const floats<Arch>& product) noexcept {
  return has_fma<Arch> ? fma<Arch>(y, half, broadcast<Arch>(0.0F) - product) : broadcast<Arch>(0.0F);
}

// e^(z^2) erfc(z), and the same of y / sqrt(2).
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> erfc_factor(const floats<Arch>& z) noexcept {
  if constexpr (in_doubles<Arch>) {
    return erfc_of_gauss<Arch>(z);
  } else {
    const floats<Arch> one = broadcast<Arch>(1.0F);
    return scaled_erfc<Arch>(one / fma<Arch>(z, broadcast<Arch>(0.4F), one));
  }
}
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> normal_tail_factor(const floats<Arch>& y) noexcept {
  if constexpr (in_doubles<Arch>) {
    return erfc_of_gauss<Arch>(y * broadcast<Arch>(0.7071067811865476));
  } else {
    const floats<Arch> one = broadcast<Arch>(1.0F);
    return scaled_erfc<Arch>(one / fma<Arch>(y, broadcast<Arch>(0.282842712F), one));
  }
}
// The magnitude from which Phi(-y) is 0, and that of arguments whose sigmoid is 0.
template <class Arch>
inline constexpr float last_normal_tail = in_doubles<Arch> ? 40.0F : 15.0F;
template <class Arch>
inline constexpr float last_sigmoid = in_doubles<Arch> ? 800.0F : 150.0F;

template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> sigmoid(const floats<Arch>& x) noexcept {
  // Of -|x|: avoids overflow, and keeps the relative accuracy of small results.
  const floats<Arch> one = broadcast<Arch>(1.0F);
  const floats<Arch> e = exp_any<Arch>(broadcast<Arch>(0.0F) - magnitude<Arch>(x));
  return select<Arch>(x < broadcast<Arch>(0.0F), e, one) / (one + e);
}

}  // namespace detail

/// `e^x`.
struct exp_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    return detail::exp_any<Arch>(x);
  }
};

/// The natural logarithm: -inf at 0, NaN for negative x.
struct log_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    return detail::log_any<Arch>(x);
  }
};

/// The hyperbolic tangent.
struct tanh_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    return detail::with_sign<Arch>(detail::tanh_of_magnitude<Arch>(detail::magnitude<Arch>(x)), x);
  }
};

/// `cap · tanh(x / cap)` for a nonzero cap. Within half the cap, the range of most scores, it uses a short polynomial.
struct soft_cap_of {
  float cap;
  float inverse = 1.0F / cap;

  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    static_assert(!in_doubles<Arch>, "dimwise: the soft cap is a polynomial for float");
    const floats<Arch> ratio = x * broadcast<Arch>(inverse);
    const floats<Arch> square = ratio * ratio;
    // tanh(y) / y - 1 in y^2, relative error of tanh 2^-26.
    const floats<Arch> slope =
        square * detail::polynomial<Arch>(square, 0.0172414916F, -0.0530454943F, 0.13325879F, -0.333331439F);
    const floats<Arch> near = fma<Arch>(x, slope, x);
    const mask<Arch> is_near = square <= broadcast<Arch>(0.25F);
    if (xsimd::all(is_near)) return near;
    // Selects per lane, so that a result does not depend on its neighbours.
    return select<Arch>(is_near, near, broadcast<Arch>(cap) * tanh_of{}(ratio));
  }
};

/// The error function.
struct erf_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    using vec = floats<Arch>;
    const vec one = broadcast<Arch>(1.0F);
    const vec z = detail::at_most<Arch>(detail::magnitude<Arch>(x), 10.0F);
    const vec square = z * z;
    const vec near = fma<Arch>(z, detail::erf_slope<Arch>(square), z);
    const vec far = one - detail::exp_any<Arch>(broadcast<Arch>(0.0F) - square) * detail::erfc_factor<Arch>(z);
    return detail::with_sign<Arch>(select<Arch>(z < one, near, far), x);
  }
};

/// `1 / (1 + e^-x)`.
struct sigmoid_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    return detail::sigmoid<Arch>(x);
  }
};

/// `log(1 + e^x)`.
struct softplus_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    using vec = floats<Arch>;
    // max(x, 0) + log(1 + e) of e = e^-|x|; `lost` is what 1 + e rounds off, which is all of a small e.
    const vec one = broadcast<Arch>(1.0F);
    const vec e = detail::exp_any<Arch>(broadcast<Arch>(0.0F) - detail::magnitude<Arch>(x));
    const vec sum = one + e;
    const vec lost = e - (sum - one);
    return detail::at_least<Arch>(x, 0.0F) + (detail::log_any<Arch>(sum) + lost / sum);
  }
};

/// `x / (1 + e^-x)`, also called swish.
struct silu_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    // Avoids -inf times 0, which is NaN.
    return detail::at_least<Arch>(x, -detail::last_sigmoid<Arch>) * detail::sigmoid<Arch>(x);
  }
};

/// `x Phi(x)`, the exact gelu; Phi is the distribution function of the normal distribution.
struct gelu_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    using vec = floats<Arch>;
    // Phi(-y) = e^(-y^2 / 2) R / 2 for y = |x|, not (1 + erf) / 2, which has no correct digit at x = -6.
    const vec one = broadcast<Arch>(1.0F);
    const vec y = detail::at_most<Arch>(detail::magnitude<Arch>(x), detail::last_normal_tail<Arch>);
    const vec half = y * broadcast<Arch>(0.5F);
    const vec square = y * half;
    const vec lost = detail::lost_of_square<Arch>(y, half, square);
    const vec bell = detail::exp_any<Arch>(broadcast<Arch>(0.0F) - square) * (broadcast<Arch>(0.5F) * (one - lost));
    const vec tail = bell * detail::normal_tail_factor<Arch>(y);
    return detail::at_least<Arch>(x, -detail::last_normal_tail<Arch>) *
           select<Arch>(x < broadcast<Arch>(0.0F), tail, one - tail);
  }
};

/// `x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2`: the gelu of GPT-2 and BERT's tanh variant.
struct gelu_tanh_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    // (1 + tanh u) / 2 is the sigmoid of 2u.
    using T = element_of<Arch>;
    const floats<Arch> slope =
        fma<Arch>(x * x, broadcast<Arch>(T(0.07135481627260025)), broadcast<Arch>(T(1.5957691216057308)));
    return detail::at_least<Arch>(x, in_doubles<Arch> ? -25.0F : -15.0F) * detail::sigmoid<Arch>(x * slope);
  }
};

namespace detail {

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

}  // namespace detail

/// The sine and the cosine of an angle in radians.
struct sin_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    return detail::sine<Arch>(x, 0);
  }
};
struct cos_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    return detail::sine<Arch>(x, 1);
  }
};

/// The square root, correctly rounded; NaN for negative x.
struct sqrt_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    return square_root<Arch>(x);
  }
};

/// `x · x`.
struct square_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    return x * x;
  }
};

/// The magnitude: clears the sign, including that of 0 and NaN.
struct abs_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    return detail::magnitude<Arch>(x);
  }
};

/// `-x`: flips the sign, including that of 0.
struct negate_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    return as_floats<Arch>(as_ints<Arch>(x) ^ ints<Arch>(std::numeric_limits<integer_of<Arch>>::min()));
  }
};

/// `max(x, 0)`; keeps NaN.
struct relu_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    return detail::at_least<Arch>(x, 0.0F);
  }
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
