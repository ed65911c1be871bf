// dimwise/kernels/math.hpp -- exp, log, tanh, erf, sigmoid, softplus, gelu, silu, relu, sqrt, sin, cos and similar
// functions of any float or double, a register at a time.
//
// Layer: kernels. Includes: math_float.hpp, math_double.hpp, simd.hpp and light standard headers only.
// Tests: tests/kernels/math.test.cpp (errors measured there; every 251st float, and the special values)
//
// Function objects, for use in epilogues and loops. Maximum measured errors, in ulp of the result:
//
//   exp 1.0 · log 0.8 · tanh 2.4 · soft cap 3.4 · erf 1.2 (1.3 without fma) · sigmoid 2.3 · silu 3.1 · softplus 1.6
//   gelu_tanh 12.4 for x >= -3 · gelu 7.1 for x >= -12.9 (without fma 12 for x >= -5, and 66 below)
//   sin, cos 2.4 · sqrt 0.5
//
// In double, with the algorithms of math_double.hpp:
//
//   exp 0.9 · log 0.9 · tanh 1.6 (1.9 without fma) · erf 1.2 · sigmoid 2.4 · silu 3.1 · sin, cos 0.9 · sqrt 0.5
//   gelu_tanh 14 for x >= -3 · gelu 6.9 for x >= -37 · softplus 1.5
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
#include <dimwise/kernels/math_float.hpp>
#include <dimwise/kernels/polynomial.hpp>
#include <dimwise/kernels/simd.hpp>

#include <limits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail {

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

// A function object of a register `x` of the architecture Arch.
#define DIMWISE_DETAIL_FUNCTION(word, ...)                                              \
  struct word##_of {                                                                    \
    template <class Batch>                                                              \
    [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x) const noexcept { \
      using Arch [[maybe_unused]] = arch_of<Batch>;                                     \
      return __VA_ARGS__;                                                               \
    }                                                                                   \
  };

/// `e^x`.
DIMWISE_DETAIL_FUNCTION(exp, detail::exp_any<Arch>(x))

/// The natural logarithm: -inf at 0, NaN for negative x.
DIMWISE_DETAIL_FUNCTION(log, detail::log_any<Arch>(x))

/// The hyperbolic tangent.
DIMWISE_DETAIL_FUNCTION(tanh, detail::with_sign<Arch>(detail::tanh_of_magnitude<Arch>(detail::magnitude<Arch>(x)), x))

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
    const vec near = fma<Arch>(z, detail::erf_ratio<Arch>(square), z);
    const vec far = one - detail::exp_any<Arch>(broadcast<Arch>(0.0F) - square) * detail::erfc_factor<Arch>(z);
    return detail::with_sign<Arch>(select<Arch>(z < one, near, far), x);
  }
};

/// `1 / (1 + e^-x)`.
DIMWISE_DETAIL_FUNCTION(sigmoid, detail::sigmoid<Arch>(x))

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
    return detail::at_least<Arch>(x, 0.0F) + detail::log_any<Arch>(sum, lost / sum);
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

/// The sine and the cosine of an angle in radians.
DIMWISE_DETAIL_FUNCTION(sin, detail::sine<Arch>(x, 0))
DIMWISE_DETAIL_FUNCTION(cos, detail::sine<Arch>(x, 1))

/// The square root, correctly rounded; NaN for negative x.
DIMWISE_DETAIL_FUNCTION(sqrt, square_root<Arch>(x))

/// `x · x`.
DIMWISE_DETAIL_FUNCTION(square, (x * x))

/// The magnitude: clears the sign, including that of 0 and NaN.
DIMWISE_DETAIL_FUNCTION(abs, detail::magnitude<Arch>(x))

/// `-x`: flips the sign, including that of 0.
DIMWISE_DETAIL_FUNCTION(negate,
                        as_floats<Arch>(as_ints<Arch>(x) ^ ints<Arch>(std::numeric_limits<integer_of<Arch>>::min())))

/// `max(x, 0)`; keeps NaN.
DIMWISE_DETAIL_FUNCTION(relu, detail::at_least<Arch>(x, 0.0F))
#undef DIMWISE_DETAIL_FUNCTION

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
