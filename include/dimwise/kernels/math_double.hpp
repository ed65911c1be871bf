// dimwise/kernels/math_double.hpp -- the functions of math.hpp in double, where the algorithm depends on the precision.
//
// Layer: kernels. Includes: polynomial.hpp, simd.hpp and light standard headers only.
// Tests: tests/kernels/math_double.test.cpp (errors measured there, against long double)
//
// These are overloads for architectures in double: the functions of math.hpp call them by the same names.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/polynomial.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

// 1.5 · 2^52: added to a number below 2^51, it leaves the nearest integer in the low bits of the mantissa.
inline constexpr double double_round_shift = 6755399441055744.0;

// 2^n for n in [-1022, 1023], given as the number 1.5 · 2^52 + n.
template <class Arch>
  requires in_doubles<Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> power_of_shifted(const floats<Arch>& shifted) noexcept {
  constexpr std::int64_t bias = 1023 - 0x4338000000000000;  // less the bits of 1.5 · 2^52
  const ints<Arch> exponent = as_ints<Arch>(shifted) + ints<Arch>(bias);
#if XSIMD_WITH_AVX512F
  if constexpr (is_avx512<Arch>) return as_floats<Arch>(ints<Arch>(_mm512_maskz_slli_epi64(0xFF, exponent.data, 52)));
#endif
  if constexpr (!is_avx512<Arch>) return as_floats<Arch>(exponent << 52);
}

// e^x = 2^exponent mantissa, mantissa in [0.7, 1.42], for |x| < 1e6.
template <class Arch>
struct double_exp_parts {
  floats<Arch> mantissa;
  floats<Arch> exponent;  // an integer
  floats<Arch> shifted;   // the same integer + 1.5 · 2^52
};

// `Exact`: an error of 0.9 ulp instead of 1.0 (without an fma 1.2), for five more steps.
template <class Arch, bool Exact>
  requires in_doubles<Arch>
[[nodiscard, gnu::always_inline]] inline double_exp_parts<Arch> split_exp(const floats<Arch>& x) noexcept {
  const floats<Arch> one = broadcast<Arch>(1.0);
  const floats<Arch> round_shift = broadcast<Arch>(double_round_shift);
  const floats<Arch> shifted = fma<Arch>(x, broadcast<Arch>(1.4426950408889634), round_shift);
  const floats<Arch> exponent = shifted - round_shift;
  // ln 2 in two parts: the first is so short that its product with an exponent is exact even without an fma.
  const floats<Arch> low = broadcast<Arch>(-0x1.cf79abc9e3b39p-40);
  const floats<Arch> high = fma<Arch>(exponent, broadcast<Arch>(-0x1.62e42fefa0000p-1), x);
  const floats<Arch> r = fma<Arch>(exponent, low, high);
  const floats<Arch> square = r * r;
  if constexpr (Exact) {
    // Of (e^r - 1 - r - r^2 / 2) / r^3 for |r| <= ln(2) / 2: relative error of e^r - 1 2^-58. `lost` is what r rounds
    // off.
    const floats<Arch> lost = fma<Arch>(exponent, low, high - r);
    const floats<Arch> cubic = polynomial_by_halves<Arch>(
        r, square, 2.0911236630261545e-09, 2.510038549551032e-08, 2.755728296954995e-07, 2.7557268459997064e-06,
        2.4801587317144498e-05, 0.00019841269863053618, 0.0013888888888886552, 0.008333333333330062,
        0.041666666666666664, 0.16666666666666669);
    const floats<Arch> more = fma<Arch>(square * r, cubic, fma<Arch>(square, broadcast<Arch>(0.5), lost));
    return {one + (r + more), exponent, shifted};
  } else {
    // Of (e^r - 1 - r) / r^2, minimax of the relative error of e^r: 2^-57.
    const floats<Arch> quadratic =
        polynomial_by_halves<Arch>(r, square, 2.5000023940315812e-08, 2.763030624035685e-07, 2.7557586783278443e-06,
                                   2.4801492949750686e-05, 0.00019841269505802478, 0.001388888894375978,
                                   0.008333333333494961, 0.04166666666652973, 0.1666666666666641, 0.5000000000000011);
    return {fma<Arch>(r, fma<Arch>(r, quadratic, one), one), exponent, shifted};
  }
}

template <class Arch>
  requires in_doubles<Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> exp_any(const floats<Arch>& x) noexcept {
  const auto usual = magnitude<Arch>(x) <= broadcast<Arch>(708.0);
  if (xsimd::all(usual)) [[likely]] {  // the same bits in fewer steps: a product with a power of two is exact
    const auto e = split_exp<Arch, true>(x);
    return e.mantissa * power_of_shifted<Arch>(e.shifted);
  }
  // Beyond these bounds the result is 0 or inf.
  const auto e = split_exp<Arch, true>(at_most<Arch>(at_least<Arch>(x, -746.0), 710.0));
#if XSIMD_WITH_AVX512F
  if constexpr (is_avx512<Arch>) {
    return floats<Arch>(_mm512_maskz_scalef_pd(0xFF, e.mantissa.data, e.exponent.data));
  }
#endif
  if constexpr (!is_avx512<Arch>) {
    // In two steps: 2^-1074 and 2^1024 are not usable as factors, and a subnormal result is rounded once.
    const floats<Arch> round_shift = broadcast<Arch>(double_round_shift);
    const floats<Arch> half = fma<Arch>(e.exponent, broadcast<Arch>(0.5), round_shift);
    const floats<Arch> other = e.exponent - (half - round_shift) + round_shift;
    return e.mantissa * power_of_shifted<Arch>(half) * power_of_shifted<Arch>(other);
  }
}

// tanh(y) for y >= 0: 1 - 2 / (e^2y + 1), and y less a quotient of two polynomials of y^2 for small y, the eighth
// convergent of Lambert's continued fraction (relative error 2^-63 at the bound). Both are divided at once.
template <class Arch>
  requires in_doubles<Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> tanh_of_magnitude(const floats<Arch>& magnitude) noexcept {
  const floats<Arch> one = broadcast<Arch>(1.0);
  const floats<Arch> y = at_most<Arch>(magnitude, 20.0);
  const mask<Arch> is_small = y < broadcast<Arch>(0.55);
  const auto e = split_exp<Arch, false>(y + y);
  const floats<Arch> square = y * y;
  const floats<Arch> above = polynomial<Arch>(square, -1.0, -594.0, -45045.0, -675675.0);
  const floats<Arch> below = polynomial<Arch>(square, 1.0, 630.0, 51975.0, 945945.0, 2027025.0);
  const floats<Arch> quotient =
      select<Arch>(is_small, square * y * above, broadcast<Arch>(-2.0)) /
      select<Arch>(is_small, below, fma<Arch>(e.mantissa, power_of_shifted<Arch>(e.shifted), one));
  return select<Arch>(is_small, y, one) + quotient;
}

// e^x for x <= 0 or NaN; below the smallest normal number 0.
template <class Arch>
  requires in_doubles<Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> exp_down(const floats<Arch>& x) noexcept {
  const auto e = split_exp<Arch, !has_fma<Arch>>(x);
  const floats<Arch> smallest_argument = broadcast<Arch>(-708.396418532264);
#if XSIMD_WITH_AVX512F
  if constexpr (is_avx512<Arch>) {
    const __mmask8 normal = _mm512_cmp_pd_mask(x.data, smallest_argument.data, _CMP_NLT_UQ);
    return floats<Arch>(_mm512_maskz_scalef_pd(normal, e.mantissa.data, e.exponent.data));
  }
#endif
  if constexpr (!is_avx512<Arch>) {
    const floats<Arch> scaled = e.mantissa * power_of_shifted<Arch>(e.shifted);
    return select<Arch>(x < smallest_argument, broadcast<Arch>(0.0), scaled);
  }
}

// log(x) for any x, plus a number that is added before the last rounding, if any (FreeBSD's algorithm: log(1 + f) =
// f - f^2 / 2 + s (f^2 / 2 + R(s^2)), s = f / (2 + f)).
template <class Arch, class... More>
  requires in_doubles<Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> log_any(const floats<Arch>& x, const More&... more) noexcept {
  using vec = floats<Arch>;
  using words = xsimd::batch<std::uint64_t, instructions<Arch>>;
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr std::int64_t root_half = 0x3FE6A09E667F3BCD;  // the bits of sqrt(1/2)
  const vec zero = broadcast<Arch>(0.0);
  const auto subnormal = x < broadcast<Arch>(std::numeric_limits<double>::min());
  const vec normal = select<Arch>(subnormal, x * broadcast<Arch>(0x1p54), x);
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)): subtracting the bits of sqrt(1/2) carries into the exponent as needed.
  const ints<Arch> bits = as_ints<Arch>(normal) - ints<Arch>(root_half);
  const vec f = as_floats<Arch>((bits & ints<Arch>(0x000FFFFFFFFFFFFF)) + ints<Arch>(root_half)) - broadcast<Arch>(1.0);
  // The exponent as a number: with 1023 added it is not negative, and in the low bits of the mantissa of 2^52.
  const ints<Arch> biased = bits + ints<Arch>(std::int64_t{1023} << 52);
#if XSIMD_VERSION_MAJOR >= 9
  const words unsigned_bits = xsimd::bitwise_cast<std::uint64_t>(biased);
#else
  const words unsigned_bits = xsimd::bitwise_cast<words>(biased);
#endif
  words field;
#if XSIMD_WITH_AVX512F
  if constexpr (is_avx512<Arch>) field = words(_mm512_maskz_srli_epi64(0xFF, unsigned_bits.data, 52));
#endif
  if constexpr (!is_avx512<Arch>) field = unsigned_bits >> 52;
  const words number = field | words(std::uint64_t{0x4330000000000000});
#if XSIMD_VERSION_MAJOR >= 9
  const vec shifted = xsimd::bitwise_cast<double>(number);
#else
  const vec shifted = xsimd::bitwise_cast<vec>(number);
#endif
  const vec e = shifted - select<Arch>(subnormal, broadcast<Arch>(0x1p52 + 1023 + 54), broadcast<Arch>(0x1p52 + 1023));
  const vec s = f / (broadcast<Arch>(2.0) + f);
  const vec z = s * s;
  const vec r = z * polynomial<Arch>(z, 1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                                     2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                                     6.666666666666735130e-01);
  const vec half = broadcast<Arch>(0.5) * f * f;
  const vec low = fma<Arch>(s, half + r, ((e * broadcast<Arch>(1.90821492927058770002e-10)) + ... + more));
  const vec finite = fma<Arch>(e, broadcast<Arch>(6.93147180369123816490e-01), f - (half - low));
  vec out = select<Arch>(x < broadcast<Arch>(infinite), finite, x);  // log(inf) is inf, log(NaN) is NaN
  out = select<Arch>(x == zero, broadcast<Arch>(-infinite), out);
  return select<Arch>(x < zero, broadcast<Arch>(std::numeric_limits<double>::quiet_NaN()), out);
}

// erf(z) / z - 1 in z^2 on [0, 1], relative error of erf 2^-56.
template <class Arch>
  requires in_doubles<Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> erf_ratio(const floats<Arch>& square) noexcept {
  return polynomial_by_halves<Arch>(square, square * square, -4.230945824295338e-12, 8.709045129053106e-11,
                                    -1.216456005728345e-09, 1.4792401209404813e-08, -1.6364642158167616e-07,
                                    1.6462045441468418e-06, -1.4925647567519332e-05, 0.00012055332902888736,
                                    -0.000854832702193483, 0.0052239776254232985, -0.02686617064512984,
                                    0.1128379167095512, -0.37612638903183754, 0.1283791670955126);
}

// The rounding error of the product of y and half, which is y / 2.
template <class Arch>
  requires in_doubles<Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> lost_of_square(const floats<Arch>& y, const floats<Arch>& half,
                                                                     const floats<Arch>& product) noexcept {
  if constexpr (has_fma<Arch>) {
    return fma<Arch>(y, half, broadcast<Arch>(0.0) - product);
  } else {
    // The upper 26 bits and the others: their products are exact.
    const floats<Arch> high = as_floats<Arch>(as_ints<Arch>(y) & ints<Arch>(~std::int64_t{0x7FFFFFF}));
    const floats<Arch> low = y - high;
    const floats<Arch> one_half = broadcast<Arch>(0.5);
    return (one_half * high * high - product) + high * low + one_half * low * low;
  }
}

// e^(z^2) erfc(z) for z in [0, 29]: (1 + 2 z) times it is a polynomial of (z - 4) / (z + 4), relative error 2^-53.
template <class Arch>
  requires in_doubles<Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> erfc_of_gauss(const floats<Arch>& z) noexcept {
  const floats<Arch> u = (z - broadcast<Arch>(4.0)) / (z + broadcast<Arch>(4.0));
  const floats<Arch> p = polynomial_by_halves<Arch>(
      u, u * u, -1.7022650415355067e-09, -1.3295321147820961e-08, -7.635461502729152e-09, 1.1447842537314855e-07,
      6.200101474293659e-08, -8.343784974842589e-07, 3.0233949956694904e-07, 5.71757235992563e-06,
      -1.1225468761677681e-05, -2.4403143881356146e-05, 0.00015062251486610125, -0.00019925548167288855,
      -0.0007577734070400822, 0.005031969745345665, -0.01619773404951719, 0.03716751556426739, -0.06633036581233404,
      0.093732834996651, -0.10103906603631775, 0.06809705425474225, 0.015379652102620166, -0.13962111684056294,
      1.2329951186255526);
  return p / fma<Arch>(z, broadcast<Arch>(2.0), broadcast<Arch>(1.0));
}

// sin(x + quarters · π/2). The argument is reduced by π/2 in three parts of 33 bits, whose products with a multiple
// below 2^20 are exact; `lost` is what the last difference rounds off. Larger arguments, NaN and infinities use the
// standard library, lane by lane.
template <class Arch>
  requires in_doubles<Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> sine(const floats<Arch>& x, std::int64_t quarters) noexcept {
  constexpr double largest = 1e6;
  const floats<Arch> size = magnitude<Arch>(x);
  const mask<Arch> small = size <= broadcast<Arch>(largest);
  const floats<Arch> near = select<Arch>(small, x, broadcast<Arch>(0.0));
  const floats<Arch> round_shift = broadcast<Arch>(double_round_shift);
  const floats<Arch> shifted = fma<Arch>(near, broadcast<Arch>(0.63661977236758134), round_shift);
  const floats<Arch> multiple = shifted - round_shift;
  const ints<Arch> quarter = as_ints<Arch>(shifted) - as_ints<Arch>(round_shift) + ints<Arch>(quarters);
  const floats<Arch> first = fma<Arch>(multiple, broadcast<Arch>(-1.57079632673412561417e+00), near);
  const floats<Arch> second = fma<Arch>(multiple, broadcast<Arch>(-6.07710050630396597660e-11), first);
  const floats<Arch> rest =
      fma<Arch>(multiple, broadcast<Arch>(-2.02226624871116645580e-21),
                fma<Arch>(multiple, broadcast<Arch>(-6.07710050630396597660e-11), first - second));
  const floats<Arch> r = second + rest;
  const floats<Arch> lost = rest - (r - second);
  const floats<Arch> square = r * r;
  // Minimax polynomials of sin and cos on |r| <= π/4 (FreeBSD).
  const floats<Arch> odd =
      r + fma<Arch>(r * square,
                    polynomial<Arch>(square, 1.58969099521155010221e-10, -2.50507602534068634195e-08,
                                     2.75573137070700676789e-06, -1.98412698298579493134e-04,
                                     8.33333333332248946124e-03, -1.66666666666666324348e-01),
                    lost);
  const floats<Arch> one = broadcast<Arch>(1.0);
  const floats<Arch> half = square * broadcast<Arch>(0.5);
  const floats<Arch> near_one = one - half;
  const floats<Arch> even =
      near_one + fma<Arch>(square * square,
                           polynomial<Arch>(square, -1.13596475577881948265e-11, 2.08757232129817482790e-09,
                                            -2.75573143513906633035e-07, 2.48015872894767294178e-05,
                                            -1.38888888888741095749e-03, 4.16666666666666019037e-02),
                           ((one - near_one) - half) - r * lost);
  const ints<Arch> zero(std::int64_t{0});
  const floats<Arch> value = select<Arch>(as_mask<Arch>((quarter & ints<Arch>(std::int64_t{1})) == zero), odd, even);
  const floats<Arch> turned =
      as_floats<Arch>(as_ints<Arch>(value) ^ ints<Arch>(std::numeric_limits<std::int64_t>::min()));
  floats<Arch> out = select<Arch>(as_mask<Arch>((quarter & ints<Arch>(std::int64_t{2})) == zero), value, turned);
  if (quarters == 0) out = select<Arch>(x == broadcast<Arch>(0.0), x, out);  // sin(-0) is -0
  if (xsimd::all(small)) return out;
  alignas(64) double in[lanes<Arch>];
  alignas(64) double results[lanes<Arch>];
  store_aligned<Arch>(&in[0], x);
  store_aligned<Arch>(&results[0], out);
  for (std::size_t i = 0; i < lanes<Arch>; ++i) {
    if (!(in[i] <= largest && in[i] >= -largest)) results[i] = quarters == 0 ? ::sin(in[i]) : ::cos(in[i]);
  }
  return load_aligned<Arch>(&results[0]);
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
