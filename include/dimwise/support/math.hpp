// SPDX-License-Identifier: BSL-1.0
// dimwise/support/math.hpp -- functions of floating-point numbers without <cmath>.
//
// Layer: support. Includes: nothing. <cmath> of libstdc++ contains Bessel functions and the like, which cost each file
// that includes dimwise.hpp a tenth of its time. g++ and clang have the same built-in functions; those of <cmath> call
// them. They are always inlined, since files of several instruction sets include this header.
// Tests: tests/support/math.test.cpp
#pragma once

namespace dimwise::detail::math {

// Whole numbers are computed in double.
#define DIMWISE_DETAIL_FUNCTION(name)                                                              \
  [[gnu::always_inline]] inline float name(float x) { return __builtin_##name##f(x); }             \
  [[gnu::always_inline]] inline double name(double x) { return __builtin_##name(x); }              \
  [[gnu::always_inline]] inline long double name(long double x) { return __builtin_##name##l(x); } \
  template <class T>                                                                               \
    requires(T(0.5) == T(0))                                                                       \
  [[gnu::always_inline]] inline double name(T x) {                                                 \
    return name(static_cast<double>(x));                                                           \
  }
DIMWISE_DETAIL_FUNCTION(cos)
DIMWISE_DETAIL_FUNCTION(erf)
DIMWISE_DETAIL_FUNCTION(erfc)
DIMWISE_DETAIL_FUNCTION(exp)
DIMWISE_DETAIL_FUNCTION(exp2)
DIMWISE_DETAIL_FUNCTION(fabs)
DIMWISE_DETAIL_FUNCTION(log)
DIMWISE_DETAIL_FUNCTION(log1p)
DIMWISE_DETAIL_FUNCTION(nearbyint)
DIMWISE_DETAIL_FUNCTION(round)
DIMWISE_DETAIL_FUNCTION(sin)
DIMWISE_DETAIL_FUNCTION(sqrt)
DIMWISE_DETAIL_FUNCTION(tanh)
#undef DIMWISE_DETAIL_FUNCTION

[[gnu::always_inline]] inline float pow(float x, float y) { return __builtin_powf(x, y); }
[[gnu::always_inline]] inline double pow(double x, double y) { return __builtin_pow(x, y); }
[[gnu::always_inline]] inline long double pow(long double x, long double y) { return __builtin_powl(x, y); }
template <class T>
  requires(T(0.5) == T(0))
[[gnu::always_inline]] inline double pow(T x, T y) {
  return pow(static_cast<double>(x), static_cast<double>(y));
}
[[gnu::always_inline]] inline double hypot(double x, double y) { return __builtin_hypot(x, y); }
[[gnu::always_inline]] inline float ldexp(float x, int exponent) { return __builtin_ldexpf(x, exponent); }
[[gnu::always_inline]] inline double ldexp(double x, int exponent) { return __builtin_ldexp(x, exponent); }
[[gnu::always_inline]] inline long double ldexp(long double x, int exponent) { return __builtin_ldexpl(x, exponent); }
template <class T>
[[gnu::always_inline]] inline bool isfinite(T x) {
  return __builtin_isfinite(x);
}
template <class T>
[[gnu::always_inline]] inline bool isnan(T x) {
  return __builtin_isnan(x);
}
template <class T>
[[gnu::always_inline]] inline bool isnormal(T x) {
  return __builtin_isnormal(x);
}
template <class T>
[[gnu::always_inline]] inline bool signbit(T x) {
  return __builtin_signbit(x) != 0;
}

}  // namespace dimwise::detail::math
