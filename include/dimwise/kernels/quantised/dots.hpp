// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/quantised/dots.hpp -- dot products of 16-bit weight rows with an input row, bound by memory
// bandwidth.
//
// Layer: kernels. Includes: gemm/pack.hpp, simd.hpp, quantised/inputs.hpp.
// Tests: tests/kernels/quantised/product.test.cpp
//
// Processes one row of weights after another; four rows side by side reached a third of the speed from memory.
// Prefetches each cache line 8 KB ahead: hardware prefetchers do not follow rows of an odd number of lines that are
// read four at a time. On a Zen 5 core bfloat16 rows of 288 elements went from 18 to 34 GB/s
// (benchmarks/kernels/quantised.cpp), rows of 768 from 31 to 37; on a Xeon with AVX-512 BF16 the same loop went from
// 10 to 13 and from 10 to 14, and stayed as fast for rows in a cache.
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/gemm/pack.hpp>
#include <dimwise/kernels/quantised/inputs.hpp>
#include <dimwise/kernels/simd.hpp>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

// A range of weight rows.
struct quantised_rows_at {
  const unsigned char* data;
  std::ptrdiff_t row;
  const float16* scales;
  std::ptrdiff_t scales_row;
  std::size_t rows;  // rows of a tile past the last repeat it
  [[nodiscard]] const unsigned char* at(std::size_t r) const noexcept {
    return data + static_cast<std::ptrdiff_t>(min(r, rows - 1)) * row;
  }
  [[nodiscard]] const float16* scales_at(std::size_t r) const noexcept {
    return scales + static_cast<std::ptrdiff_t>(min(r, rows - 1)) * scales_row;
  }
  // The rows from `first` on.
  [[nodiscard]] quantised_rows_at from(std::size_t first) const noexcept {
    return {at(first), row, scales == nullptr ? nullptr : scales_at(first), scales_row, rows - first};
  }
};

// ---- 16 bits ------------------------------------------------------------------------------------------------------

// Prefetches the cache lines of `Count` elements, 8 KB after them.
template <std::size_t Count>
[[gnu::always_inline]] inline void prefetch_halves(const unsigned char* from) noexcept {
  constexpr std::size_t ahead = 8192;
#pragma GCC unroll 4
  for (std::size_t byte = 0; byte < Count * sizeof(std::uint16_t); byte += 64) {
    __builtin_prefetch(from + ahead + byte, 0, 3);
  }
}

template <class Arch, number_format Format, bool RoundedInputs>
[[gnu::noinline]] float half_dot(const input_row& x, std::size_t k, const unsigned char* row) noexcept {
  using widened = widen<Arch, Format>;
  using floats_n = typename widened::floats_n;
  constexpr std::size_t n = widened::n;
  constexpr std::size_t chains = 4;  // independent sums hide the latency of additions
  floats_n sum[chains] = {};
  const auto input = [&](std::size_t at) __attribute__((always_inline)) {
    if constexpr (RoundedInputs) {
      return widen<Arch, number_format::bfloat16>::load(reinterpret_cast<const unsigned char*>(x.halves), at);
    } else {
      return load_bytes<floats_n>(x.floats + at);
    }
  };
  std::size_t at = 0;
  for (; at + chains * n <= k; at += chains * n) {
    prefetch_halves<chains * n>(row + 2 * at);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < chains; ++i) sum[i] += widened::load(row, at + i * n) * input(at + i * n);
  }
  for (; at + n <= k; at += n) sum[0] += widened::load(row, at) * input(at);
  if (at < k) {
    floats_n in = {};
    if constexpr (RoundedInputs) {
      in = input(at);  // padded
    } else {
      __builtin_memcpy(&in, x.floats + at, (k - at) * sizeof(float));
    }
    sum[1] += widened::load_partial(row, at, k - at) * in;
  }
  const floats_n all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  alignas(64) float lanes_of[n];
  __builtin_memcpy(lanes_of, &all, sizeof(lanes_of));
  return reduce_sum<Arch>(load_aligned<Arch>(lanes_of));
}

#if defined(__AVX512BW__)
// Loads a cache line at once: half lines, widened as they are loaded, reached two thirds of the speed.
[[gnu::noinline]] inline float float16_dot(const input_row& x, std::size_t k, const unsigned char* row) noexcept {
  __m512 sum[4];
#pragma GCC unroll 4
  for (auto& one : sum) one = _mm512_setzero_ps();
  const auto add = [&](__m512& low, __m512& high, std::size_t at, __m512i stored) __attribute__((always_inline)) {
    low = _mm512_fmadd_ps(_mm512_cvtph_ps(_mm512_castsi512_si256(stored)), _mm512_loadu_ps(x.floats + at), low);
    high = _mm512_fmadd_ps(_mm512_cvtph_ps(_mm512_extracti64x4_epi64(stored, 1)), _mm512_loadu_ps(x.floats + at + 16),
                           high);
  };
  std::size_t at = 0;
  for (; at + 64 <= k; at += 64) {
    prefetch_halves<64>(row + 2 * at);
    add(sum[0], sum[1], at, _mm512_loadu_si512(row + 2 * at));
    add(sum[2], sum[3], at + 32, _mm512_loadu_si512(row + 2 * at + 64));
  }
  for (; at + 32 <= k; at += 32) {
    prefetch_halves<32>(row + 2 * at);
    add(sum[0], sum[1], at, _mm512_loadu_si512(row + 2 * at));
  }
  if (at < k) {
    const __mmask32 there = (__mmask32{1} << (k - at)) - 1;
    const __m512i stored = _mm512_maskz_loadu_epi16(there, row + 2 * at);
    const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(there), x.floats + at);
    const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(there >> 16), x.floats + at + 16);
    sum[2] = _mm512_fmadd_ps(_mm512_cvtph_ps(_mm512_castsi512_si256(stored)), low, sum[2]);
    sum[3] = _mm512_fmadd_ps(_mm512_cvtph_ps(_mm512_extracti64x4_epi64(stored, 1)), high, sum[3]);
  }
  return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(sum[0], sum[1]), _mm512_add_ps(sum[2], sum[3])));
}
#endif

#if defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__)
// Of a register of pairs, a shift leaves the even elements as floats, and a mask the odd ones: half as many
// instructions as widening eight elements at a time. `x` is `even_first`.
[[gnu::noinline]] inline float bfloat16_pairs_dot(const input_row& x, std::size_t k,
                                                  const unsigned char* row) noexcept {
  __m256 sum[4];
#pragma GCC unroll 4
  for (auto& one : sum) one = _mm256_setzero_ps();
  const auto add = [&](__m256& even, __m256& odd, std::size_t at, __m256i pairs) __attribute__((always_inline)) {
    const __m256 high = _mm256_castsi256_ps(_mm256_and_si256(pairs, _mm256_set1_epi32(-65536)));
    even = _mm256_fmadd_ps(_mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16)), _mm256_loadu_ps(x.floats + at), even);
    odd = _mm256_fmadd_ps(high, _mm256_loadu_ps(x.floats + at + 8), odd);
  };
  std::size_t at = 0;
  for (; at + 32 <= k; at += 32) {
    prefetch_halves<32>(row + 2 * at);
    add(sum[0], sum[1], at, load_bytes<__m256i>(row + 2 * at));
    add(sum[2], sum[3], at + 16, load_bytes<__m256i>(row + 2 * at + 32));
  }
  for (; at < k; at += 16) {
    alignas(32) unsigned char part[32] = {};
    __builtin_memcpy(part, row + 2 * at, 2 * min(16, k - at));
    add(sum[0], sum[1], at, load_bytes<__m256i>(part));
  }
  const __m256 all = _mm256_add_ps(_mm256_add_ps(sum[0], sum[1]), _mm256_add_ps(sum[2], sum[3]));
  return reduce_sum<xsimd::fma3<xsimd::avx2>>(floats<xsimd::fma3<xsimd::avx2>>(all));
}
#endif

#if defined(__AVX512BF16__)
// The instruction multiplies pairs of bfloat16 and adds them to floats.
[[gnu::noinline]] inline float bfloat16_dot(const input_row& x, std::size_t k, const unsigned char* row) noexcept {
  __m512 sum[4];
#pragma GCC unroll 4
  for (auto& one : sum) one = _mm512_setzero_ps();
  const auto add = [&](__m512& to, std::size_t at, __m512i stored) __attribute__((always_inline)) {
    to = _mm512_dpbf16_ps(to, (__m512bh)stored, (__m512bh)_mm512_loadu_si512(x.halves + at));
  };
  std::size_t at = 0;
  for (; at + 128 <= k; at += 128) {
    prefetch_halves<128>(row + 2 * at);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) add(sum[i], at + 32 * i, _mm512_loadu_si512(row + 2 * at + 64 * i));
  }
  for (; at < k; at += 32) {
    prefetch_halves<32>(row + 2 * at);
    const __mmask32 there = k - at >= 32 ? ~__mmask32{0} : (__mmask32{1} << (k - at)) - 1;
    add(sum[0], at, _mm512_maskz_loadu_epi16(there, row + 2 * at));
  }
  return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(sum[0], sum[1]), _mm512_add_ps(sum[2], sum[3])));
}
#endif

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
