// SPDX-License-Identifier: BSL-1.0
// dimwise/support/math.hpp -- functions of floating-point numbers without <cmath>.
//
// Layer: support. Includes: nothing. <cmath> of libstdc++ contains Bessel functions and the like, which cost each file
// that includes dimwise.hpp a tenth of its time. g++ and clang have the same built-in functions; those of <cmath> call
// them.
// Tests: tests/support/math.test.cpp
#pragma once

namespace dimwise::detail::math {

#define DIMWISE_DETAIL_FUNCTION(name)                           \
  inline float name(float x) { return __builtin_##name##f(x); } \
  inline double name(double x) { return __builtin_##name(x); }  \
  inline long double name(long double x) { return __builtin_##name##l(x); }
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

inline float pow(float x, float y) { return __builtin_powf(x, y); }
inline double pow(double x, double y) { return __builtin_pow(x, y); }
inline long double pow(long double x, long double y) { return __builtin_powl(x, y); }
inline float ldexp(float x, int exponent) { return __builtin_ldexpf(x, exponent); }
inline double ldexp(double x, int exponent) { return __builtin_ldexp(x, exponent); }
inline long double ldexp(long double x, int exponent) { return __builtin_ldexpl(x, exponent); }
template <class T>
bool isfinite(T x) {
  return __builtin_isfinite(x);
}
template <class T>
bool isnan(T x) {
  return __builtin_isnan(x);
}
template <class T>
bool isnormal(T x) {
  return __builtin_isnormal(x);
}
template <class T>
bool signbit(T x) {
  return __builtin_signbit(x) != 0;
}

}  // namespace dimwise::detail::math
