// dimwise/kernels/exp.hpp -- e^x for x <= 0, as in a softmax, in a dozen instructions.
//
// Layer: kernels. Includes: math_double.hpp, simd.hpp.
// Tests: tests/kernels/exp.test.cpp (every float <= 0)
//
// The error is at most 3 ulp. Exact values: exp(0) = 1, exp(-inf) = 0, exp(NaN) = NaN. Results below the smallest
// normal float (x < -87.3365) are flushed to 0: a subnormal weight does not change a sum, and some processors need a
// hundred cycles to multiply by it.
//
//   floats<Arch> weight = exp_nonpositive<Arch>(score - maximum);
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/math_double.hpp>
#include <dimwise/kernels/simd.hpp>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

/// `e^x` in each lane, for x <= 0 or NaN.
template <class Arch>
  requires(!in_doubles<Arch>)
[[nodiscard, gnu::always_inline]] inline floats<Arch> exp_nonpositive(const floats<Arch>& x) noexcept {
  using vec = floats<Arch>;
  // Adding 1.5 * 2^23 + 127 rounds to an integer and leaves it, with the bias of an exponent, in the low bits of the
  // mantissa.
  const vec round_shift(12583039.0F);
  // ln 2 in two parts: the first is so short that its product with an exponent is exact even without an fma.
  const vec ln2_high(0.693359375F);
  const vec ln2_low(-2.12194440e-4F);

  const vec shifted = fma<Arch>(x, vec(1.44269504F), round_shift);
  const vec exponent = shifted - round_shift;
  vec r = fma<Arch>(exponent, -ln2_high, x);
  r = fma<Arch>(exponent, -ln2_low, r);

  // Minimax for the relative error on |r| <= ln(2) / 2 with the first two coefficients fixed at 1, so that e^0 is 1.
  vec p = fma<Arch>(r, vec(0x1.106250p-7F), vec(0x1.572a64p-5F));
  p = fma<Arch>(p, r, vec(0x1.5557b0p-3F));
  p = fma<Arch>(p, r, vec(0x1.fffdfcp-2F));
  p = fma<Arch>(p, r, vec(1.0F));
  p = fma<Arch>(p, r, vec(1.0F));

  // A select, not a clamp of x: a clamp turns exp(-inf) into the smallest normal number, and a fully masked row into
  // the mean of its values. NaN compares false and is kept.
  const vec smallest_argument(-87.3365402F);
#if XSIMD_WITH_AVX512F
  if constexpr (is_avx512<Arch>) {
    const __mmask16 normal = _mm512_cmp_ps_mask(x.data, smallest_argument.data, _CMP_NLT_UQ);
    return vec(_mm512_maskz_scalef_ps(normal, p.data, exponent.data));
  }
#endif
  if constexpr (!is_avx512<Arch>) {
    // A product, not an addition of bits: that would turn a NaN with low bits set into a number.
    const vec scaled = p * as_floats<Arch>(as_ints<Arch>(shifted) << 23);
    return select<Arch>(x < smallest_argument, vec(0.0F), scaled);
  }
}

/// The same in double.
template <class Arch>
  requires in_doubles<Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> exp_nonpositive(const floats<Arch>& x) noexcept {
  return detail::exp_down<Arch>(x);
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
