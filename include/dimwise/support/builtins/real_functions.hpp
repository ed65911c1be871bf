// SPDX-License-Identifier: BSL-1.0
// dimwise/support/builtins/real_functions.hpp -- the functions of <cmath> that formulas use, without <cmath>.
//
// Layer: support. Includes: nothing. <cmath> of libstdc++ contains the special functions of C++17 (Bessel, Legendre, …),
// whose instantiation is a tenth of the compile time of dimwise.hpp. The standard functions are the same built-in
// functions of the compiler: results and code are equal. Always inlined: a file that is compiled for one architecture
// leaves no weak symbol with its instructions.
// Tests: tests/support/real_functions.test.cpp
#pragma once

namespace dimwise::detail_math {

#define DIMWISE_DETAIL_OF_ONE(word)                                                    \
  [[gnu::always_inline]] inline float word(float x) { return __builtin_##word##f(x); } \
  [[gnu::always_inline]] inline double word(double x) { return __builtin_##word(x); }
#define DIMWISE_DETAIL_OF_TWO(word)                                                                \
  [[gnu::always_inline]] inline float word(float x, float y) { return __builtin_##word##f(x, y); } \
  [[gnu::always_inline]] inline double word(double x, double y) { return __builtin_##word(x, y); }
DIMWISE_DETAIL_OF_ONE(sqrt)
DIMWISE_DETAIL_OF_ONE(exp)
DIMWISE_DETAIL_OF_ONE(exp2)
DIMWISE_DETAIL_OF_ONE(log)
DIMWISE_DETAIL_OF_ONE(log1p)
DIMWISE_DETAIL_OF_ONE(sin)
DIMWISE_DETAIL_OF_ONE(cos)
DIMWISE_DETAIL_OF_ONE(tanh)
DIMWISE_DETAIL_OF_ONE(erf)
DIMWISE_DETAIL_OF_ONE(erfc)
DIMWISE_DETAIL_OF_ONE(fabs)
DIMWISE_DETAIL_OF_ONE(round)
DIMWISE_DETAIL_OF_ONE(nearbyint)
DIMWISE_DETAIL_OF_TWO(pow)
DIMWISE_DETAIL_OF_TWO(hypot)
#undef DIMWISE_DETAIL_OF_ONE
#undef DIMWISE_DETAIL_OF_TWO

[[gnu::always_inline]] inline float ldexp(float x, int power) { return __builtin_ldexpf(x, power); }
[[gnu::always_inline]] inline double ldexp(double x, int power) { return __builtin_ldexp(x, power); }

[[gnu::always_inline]] inline bool isnan(float x) { return __builtin_isnan(x) != 0; }
[[gnu::always_inline]] inline bool isnan(double x) { return __builtin_isnan(x) != 0; }
[[gnu::always_inline]] inline bool isfinite(float x) { return __builtin_isfinite(x) != 0; }
[[gnu::always_inline]] inline bool isfinite(double x) { return __builtin_isfinite(x) != 0; }
[[gnu::always_inline]] inline bool isnormal(float x) { return __builtin_isnormal(x) != 0; }
[[gnu::always_inline]] inline bool isnormal(double x) { return __builtin_isnormal(x) != 0; }
[[gnu::always_inline]] inline bool signbit(float x) { return __builtin_signbit(x) != 0; }
[[gnu::always_inline]] inline bool signbit(double x) { return __builtin_signbit(x) != 0; }

}  // namespace dimwise::detail_math
