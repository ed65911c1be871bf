// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/stored_dots.hpp -- rows of stored weights times one row of inputs: bound by reading the weights once.
//
// Layer: kernels. Includes: gemm_pack.hpp, simd.hpp, stored_inputs.hpp.
// Tests: tests/kernels/stored_product.test.cpp
//
// One row of weights after the other: processors read one stream ahead of its use by themselves, where four rows side
// by side came at a third of that speed from memory. Numbers of 8 bits are multiplied as such: to widen them to floats
// first takes longer than to read them.
#pragma once

#include <dimwise/kernels/configuration.hpp>
#include <dimwise/kernels/gemm_pack.hpp>
#include <dimwise/kernels/simd.hpp>
#include <dimwise/kernels/stored_inputs.hpp>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

// Rows of weights, from one of them on.
struct stored_rows_at {
  const unsigned char* data;
  std::ptrdiff_t row;
  const float16* scales;
  std::ptrdiff_t scales_row;
  std::size_t rows;  // what a tile has more is the last one again
  [[nodiscard]] const unsigned char* at(std::size_t r) const noexcept {
    return data + static_cast<std::ptrdiff_t>(smaller(r, rows - 1)) * row;
  }
  [[nodiscard]] const float16* scales_at(std::size_t r) const noexcept {
    return scales + static_cast<std::ptrdiff_t>(smaller(r, rows - 1)) * scales_row;
  }
};

// ---- 16 bits ------------------------------------------------------------------------------------------------------

template <class Arch, number_format Format, bool RoundedInputs>
[[gnu::noinline]] float half_dot(const input_row& x, std::size_t k, const unsigned char* row) noexcept {
  using widened = widen<Arch, Format>;
  using floats_n = typename widened::floats_n;
  constexpr std::size_t n = widened::n;
  constexpr std::size_t chains = 4;  // an addition waits for the one before
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
// A line of memory in one load: half lines, widened as they are read, came at two thirds of the speed.
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
    add(sum[0], sum[1], at, _mm512_loadu_si512(row + 2 * at));
    add(sum[2], sum[3], at + 32, _mm512_loadu_si512(row + 2 * at + 64));
  }
  for (; at + 32 <= k; at += 32) add(sum[0], sum[1], at, _mm512_loadu_si512(row + 2 * at));
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

#if defined(__AVX512BF16__)
// The machine multiplies pairs of bfloat16 and adds them in float.
[[gnu::noinline]] inline float bfloat16_dot(const input_row& x, std::size_t k, const unsigned char* row) noexcept {
  __m512 sum[4];
#pragma GCC unroll 4
  for (auto& one : sum) one = _mm512_setzero_ps();
  const auto add = [&](__m512& to, std::size_t at, __m512i stored) __attribute__((always_inline)) {
    to = _mm512_dpbf16_ps(to, (__m512bh)stored, (__m512bh)_mm512_loadu_si512(x.halves + at));
  };
  std::size_t at = 0;
  for (; at + 128 <= k; at += 128) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) add(sum[i], at + 32 * i, _mm512_loadu_si512(row + 2 * at + 64 * i));
  }
  for (; at < k; at += 32) {
    const __mmask32 there = k - at >= 32 ? ~__mmask32{0} : (__mmask32{1} << (k - at)) - 1;
    add(sum[0], at, _mm512_maskz_loadu_epi16(there, row + 2 * at));
  }
  return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(sum[0], sum[1]), _mm512_add_ps(sum[2], sum[3])));
}
#endif

// ---- blocks of 8 and 4 bits ---------------------------------------------------------------------------------------

#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
#define DIMWISE_DETAIL_BLOCK_REGISTERS 1
// Registers of 64 bytes.
struct block_registers {
  using bytes = __m512i;
  using floats = __m512;
  static constexpr std::size_t size = 64;
  [[gnu::always_inline]] static bytes load(const void* from) noexcept { return _mm512_loadu_si512(from); }
  [[gnu::always_inline]] static bytes load_partial(const void* from, std::size_t count) noexcept {
    return _mm512_maskz_loadu_epi8(~__mmask64{0} >> (size - count), from);
  }
  [[gnu::always_inline]] static floats load_floats(const float* from) noexcept { return _mm512_loadu_ps(from); }
  [[gnu::always_inline]] static floats zero() noexcept { return _mm512_setzero_ps(); }
  [[gnu::always_inline]] static floats scales(const float16* from, std::size_t count) noexcept {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(static_cast<__mmask16>((1U << count) - 1), from));
  }
  // Which block each lane belongs to, and lanes of later ones.
  template <int LanesOfBlock>
  [[gnu::always_inline]] static bytes places() noexcept {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_srli_epi32(lane, LanesOfBlock == 8 ? 3 : 2);
  }
  [[gnu::always_inline]] static bytes later(bytes place, int blocks) noexcept {
    return _mm512_add_epi32(place, _mm512_set1_epi32(blocks));
  }
  [[gnu::always_inline]] static floats pick(floats x, bytes place) noexcept { return _mm512_permutexvar_ps(place, x); }
  [[gnu::always_inline]] static floats plus(floats a, floats b) noexcept { return _mm512_add_ps(a, b); }
  [[gnu::always_inline]] static bytes dot8(bytes begin, bytes stored, bytes input) noexcept {
    return _mm512_dpbusd_epi32(begin, _mm512_xor_si512(stored, _mm512_set1_epi8(-128)), input);
  }
  [[gnu::always_inline]] static bytes dot4(bytes begin, bytes stored, bytes even, bytes odd) noexcept {
    const __m512i low = _mm512_set1_epi8(15);
    const __m512i first = _mm512_dpbusd_epi32(begin, _mm512_and_si512(stored, low), even);
    return _mm512_dpbusd_epi32(first, _mm512_and_si512(_mm512_srli_epi16(stored, 4), low), odd);
  }
  [[gnu::always_inline]] static floats add(floats sum, bytes whole, floats stored, floats input) noexcept {
    return _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(whole), input), stored, sum);
  }
  [[gnu::always_inline]] static float total(floats x) noexcept { return _mm512_reduce_add_ps(x); }
};
#elif defined(__AVX2__) && defined(__FMA__)
#define DIMWISE_DETAIL_BLOCK_REGISTERS 1
// Registers of 32 bytes; products of bytes are added in 16 bits.
struct block_registers {
  using bytes = __m256i;
  using floats = __m256;
  static constexpr std::size_t size = 32;
  [[gnu::always_inline]] static bytes load(const void* from) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
  [[gnu::always_inline]] static bytes load_partial(const void* from, std::size_t count) noexcept {
    alignas(32) unsigned char part[size] = {};
    __builtin_memcpy(part, from, count);
    return load(part);
  }
  [[gnu::always_inline]] static floats load_floats(const float* from) noexcept { return _mm256_loadu_ps(from); }
  [[gnu::always_inline]] static floats zero() noexcept { return _mm256_setzero_ps(); }
  [[gnu::always_inline]] static floats scales(const float16* from, std::size_t count) noexcept {
    using halves = widen<xsimd::fma3<xsimd::avx2>, number_format::float16>;
    const auto* const bytes_of = reinterpret_cast<const unsigned char*>(from);
    return (floats)(count < 8 ? halves::load_partial(bytes_of, 0, count) : halves::load(bytes_of, 0));
  }
  template <int LanesOfBlock>
  [[gnu::always_inline]] static bytes places() noexcept {
    return LanesOfBlock == 8 ? _mm256_setzero_si256() : _mm256_set_epi32(1, 1, 1, 1, 0, 0, 0, 0);
  }
  [[gnu::always_inline]] static bytes later(bytes place, int blocks) noexcept {
    return _mm256_add_epi32(place, _mm256_set1_epi32(blocks));
  }
  [[gnu::always_inline]] static floats pick(floats x, bytes place) noexcept {
    return _mm256_permutevar8x32_ps(x, place);
  }
  [[gnu::always_inline]] static floats plus(floats a, floats b) noexcept { return _mm256_add_ps(a, b); }
  // Magnitudes by signed inputs: no sum of two exceeds 16 bits, and nothing is to be taken away.
  [[gnu::always_inline]] static bytes dot8(bytes, bytes stored, bytes input) noexcept {
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_sign_epi8(stored, stored), _mm256_sign_epi8(input, stored));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  }
  [[gnu::always_inline]] static bytes dot4(bytes begin, bytes stored, bytes even, bytes odd) noexcept {
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i first = _mm256_maddubs_epi16(_mm256_and_si256(stored, low), even);
    const __m256i second = _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16(stored, 4), low), odd);
    return _mm256_add_epi32(begin, _mm256_madd_epi16(_mm256_add_epi16(first, second), _mm256_set1_epi16(1)));
  }
  [[gnu::always_inline]] static floats add(floats sum, bytes whole, floats stored, floats input) noexcept {
    return _mm256_fmadd_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(whole), input), stored, sum);
  }
  [[gnu::always_inline]] static float total(floats x) noexcept {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
  }
};
#endif

#if defined(DIMWISE_DETAIL_BLOCK_REGISTERS)
#undef DIMWISE_DETAIL_BLOCK_REGISTERS

// Asks for memory behind what is read now. Where numbers are summed in blocks, reading by the processor's own foresight
// takes 1.15 times as long.
[[gnu::always_inline]] inline void ask_ahead(const unsigned char* at, std::size_t bytes) noexcept {
#if defined(__GNUC__)
  for (std::size_t b = 0; b < bytes; b += 64) __builtin_prefetch(at + b + 4096, 0, 3);
#else
  (void)at, (void)bytes;
#endif
}

// Sixteen (or eight) blocks at a time: as many scales as a register holds.
template <bool Four>
[[gnu::noinline]] float block_dot(const input_row& x, const input_layout& layout, const unsigned char* row,
                                  const float16* scales) noexcept {
  using reg = block_registers;
  constexpr std::size_t lanes_of_register = reg::size / 4;
  constexpr int lanes_of_block = Four ? 4 : 8;
  constexpr int blocks_of_register = static_cast<int>(lanes_of_register) / lanes_of_block;
  const std::size_t bytes = Four ? (layout.k + 1) / 2 : layout.k;
  const std::size_t blocks = (layout.k + block_numbers - 1) / block_numbers;
  const std::int8_t* const odd = x.numbers + layout.padded / 2;
  reg::floats sum[2] = {reg::zero(), reg::zero()};
  const auto add = [&](reg::floats& to, std::size_t at, reg::bytes w, reg::floats stored, reg::bytes place)
                       __attribute__((always_inline)) {
    const reg::bytes begin = reg::load(x.begin + at / 4);
    const reg::bytes numbers = reg::load(x.numbers + at);
    const reg::bytes whole = Four ? reg::dot4(begin, w, numbers, reg::load(odd + at)) : reg::dot8(begin, w, numbers);
    to = reg::add(to, whole, reg::pick(stored, place), reg::load_floats(x.scale + at / 4));
  };
  std::size_t at = 0;
  for (std::size_t block = 0; block < blocks; block += lanes_of_register) {
    const std::size_t here = smaller(lanes_of_register, blocks - block);
    const reg::floats stored = reg::scales(scales + block, here);
    reg::bytes place = reg::template places<lanes_of_block>();
    const std::size_t end = smaller(bytes, at + here * (block_numbers / (Four ? 2 : 1)));
    for (; at + 2 * reg::size <= end; at += 2 * reg::size) {
      ask_ahead(row + at, 2 * reg::size);
      add(sum[0], at, reg::load(row + at), stored, place);
      place = reg::later(place, blocks_of_register);
      add(sum[1], at + reg::size, reg::load(row + at + reg::size), stored, place);
      place = reg::later(place, blocks_of_register);
    }
    for (; at < end; at += reg::size) {
      const std::size_t count = smaller(reg::size, end - at);
      add(sum[0], at, count == reg::size ? reg::load(row + at) : reg::load_partial(row + at, count), stored, place);
      place = reg::later(place, blocks_of_register);
    }
  }
  return reg::total(reg::plus(sum[0], sum[1]));
}

#else

// Sums of whole numbers that compilers turn into vectors.
template <bool Four>
[[gnu::noinline]] float block_dot(const input_row& x, const input_layout& layout, const unsigned char* row,
                                  const float16* scales) noexcept {
  constexpr std::size_t lanes_of_block = Four ? 4 : 8;
  const std::int8_t* const odd = x.numbers + layout.padded / 2;
  float sum = 0;
  for (std::size_t block = 0; block * block_numbers < layout.k; ++block) {
    const std::size_t first = block * block_numbers;
    const std::size_t count = smaller(block_numbers, layout.k - first);
    std::int32_t whole = 0;
    if constexpr (Four) {
      const unsigned char* const two = row + first / 2;
      for (std::size_t i = 0; i < (count + 1) / 2; ++i) {
        whole += ((two[i] & 15) - 8) * x.numbers[first / 2 + i] + ((two[i] >> 4) - 8) * odd[first / 2 + i];
      }
    } else {
      const auto* const numbers = reinterpret_cast<const std::int8_t*>(row + first);
      for (std::size_t i = 0; i < count; ++i) whole += numbers[i] * x.numbers[first + i];
    }
    sum += static_cast<float>(whole) * x.scale[block * lanes_of_block] * static_cast<float>(scales[block]);
  }
  return sum;
}

#endif

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
