// SPDX-License-Identifier: BSL-1.0
// benchmarks/peak.hpp -- how many multiply-adds one core does in a second, and nothing else: what figures are shares
// of.
//
// Independent chains in registers. Each is a function with the flags of its own architecture, so that a program that
// was built for an older machine measures this one.
#pragma once

#include <algorithm>
#include <ctime>
#include <string>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace bench {

namespace detail {

inline volatile float kept;  // what is stored here cannot be left out

// Twelve chains: more than the latency of a multiply-add times how many begin at once, on every machine that is known.
inline constexpr int chains = 12;

#if defined(__x86_64__)
#define DIMWISE_BENCH_CHAINS(Name, Target, Register, Set, Step, First)             \
  __attribute__((noinline, target(Target))) inline void Name(long steps) {         \
    Register a[chains];                                                            \
    for (int i = 0; i < chains; ++i) { a[i] = Set(0.1F * static_cast<float>(i)); } \
    const Register x = Set(0.999F);                                                \
    const Register y = Set(0.001F);                                                \
    for (long s = 0; s < steps; ++s) {                                             \
      _Pragma("GCC unroll 12") for (int i = 0; i < chains; ++i) { a[i] = Step; }   \
    }                                                                              \
    for (int i = 0; i < chains; ++i) { kept = First(a[i]); }                       \
  }
DIMWISE_BENCH_CHAINS(chains_avx512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps(a[i], x, y), _mm512_cvtss_f32)
DIMWISE_BENCH_CHAINS(chains_avx2, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps(a[i], x, y), _mm256_cvtss_f32)
DIMWISE_BENCH_CHAINS(chains_sse, "sse2", __m128, _mm_set1_ps, _mm_add_ps(_mm_mul_ps(a[i], x), y), _mm_cvtss_f32)
#undef DIMWISE_BENCH_CHAINS
#elif defined(__aarch64__)
__attribute__((noinline)) inline void chains_neon(long steps) {
  float32x4_t a[chains];
  for (int i = 0; i < chains; ++i) { a[i] = vdupq_n_f32(0.1F * static_cast<float>(i)); }
  const float32x4_t x = vdupq_n_f32(0.999F);
  for (long s = 0; s < steps; ++s) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) { a[i] = vfmaq_f32(x, a[i], x); }
  }
  for (int i = 0; i < chains; ++i) { kept = vgetq_lane_f32(a[i], 0); }
}
#endif

inline double thread_seconds() {
  std::timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace detail

/// The architecture that this program is compiled for, by the names that dimwise's kernels have. Rivals are compiled
/// for the machine, or for an older one (CMakeLists.txt).
constexpr const char* compiled_architecture() {
#if defined(__AVX512BW__)
  return "avx512bw";
#elif defined(__AVX2__) && defined(__FMA__)
  return "fma3+avx2";
#elif defined(__x86_64__)
  return "sse4.2";
#else
  return "neon64";
#endif
}

/// GFLOP/s of one core, a multiply-add counted as two; the median of several short runs.
inline double multiply_add_peak([[maybe_unused]] const std::string& architecture) {
#if defined(__x86_64__)
  const bool widest = architecture.find("avx512") != std::string::npos;
  const bool middle = architecture.find("avx2") != std::string::npos;
  const auto run = widest ? detail::chains_avx512 : middle ? detail::chains_avx2 : detail::chains_sse;
  const int lanes = widest ? 16 : middle ? 8 : 4;
#else
  const auto run = detail::chains_neon;
  const int lanes = 4;
#endif
  constexpr long steps = 400000;
  constexpr int rounds = 5;
  double rates[rounds];
  run(steps / 4);
  for (double& rate : rates) {
    const double before = detail::thread_seconds();
    run(steps);
    rate = 1e-9 * 2.0 * lanes * detail::chains * static_cast<double>(steps) / (detail::thread_seconds() - before);
  }
  std::sort(rates, rates + rounds);
  return rates[rounds / 2];
}

}  // namespace bench
