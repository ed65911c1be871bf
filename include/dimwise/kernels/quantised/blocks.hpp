// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/quantised/blocks.hpp -- products of 8-bit or 4-bit weight blocks with one row of 8-bit inputs, bound
// by memory bandwidth.
//
// Layer: kernels. Includes: gemm/pack.hpp, quantised/dots.hpp.
// Tests: tests/kernels/quantised/product.test.cpp
//
// Elements are multiplied and summed as integers within a block: widening them to floats takes longer than reading
// them. The scales of inputs and weights are multiplied sixteen (or eight) blocks at a time.
//
// Version 1 processed one row after another, and prefetched memory 4 KB ahead. Version 2 processes several rows at
// once, loads their inputs once, and prefetches memory in address order: hardware prefetchers do not follow rows
// that are read in parallel. A long row of 8 bits is one stream by itself, which prefetching disturbs. On a Zen 4
// core whose memory provides 26 to 33 GB/s to a plain loop, rows of 768 to 3072 elements of 8 bits went from
// 0.6-0.75 of that to 0.75-0.93, of 4 bits from 0.64-0.8 to 0.81-0.9. Other distances, bursts, eight rows, distant
// rows, 16-bit sums of a block, and rows unrolled so that many instructions read one stream gave 0.3 to 0.85.
// Version 3 reads the last scales and the last half register of a row on AVX2 without a copy in memory: with 288
// features (nine blocks) of 4 bits, a token took 1.59 ms before and 0.71 ms after. Version 4 prefetches scales,
// which are a stream of their own, and 8 KB of weights ahead, and takes four rows of 4 bits: scales that had to be
// waited for were the limit. On a Zen 5 core with AVX-512 rows of 768 elements of 4 bits went from 0.46-0.61 of the
// plain loop to 0.61-0.96, of 288 from 0.4 to 0.7 (0.52 to 0.61 on AVX2), rows of 288 of 8 bits from 0.7 to 0.9. In
// a cache, rows of 288 elements of 4 bits take 20 cycles each (26 before), whose memory takes 20. Version 5 takes two
// rows of more than 512 elements, and prefetches long rows of 8 bits like the others: from memory, rows of 3072
// elements of 8 bits went from 0.71 of the plain loop to 0.93 on AVX2 and from 0.77 to 0.98 with AVX-512 (Zen 5), of 4
// bits from 0.89 to 1.03 and from 0.93 to 1.06. Short rows stay at four: two cost 15 % if the weights are in a cache.
// On AVX2 it adds up eight blocks of 4 bits before it converts their sums to floats: in a cache, rows of 768 elements
// take 36 to 40 cycles (45 before), of 288 20 (24 before).
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/gemm/pack.hpp>
#include <dimwise/kernels/quantised/dots.hpp>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
#define DIMWISE_DETAIL_BLOCK_REGISTERS 1
// Registers of 64 bytes.
struct block_registers {
  using bytes = __m512i;
  using floats = __m512;
  static constexpr std::size_t size = 64;
  static constexpr bool joins_blocks = false;
  [[gnu::always_inline]] static bytes load(const void* from) noexcept { return _mm512_loadu_si512(from); }
  [[gnu::always_inline]] static bytes load_partial(const void* from, std::size_t count) noexcept {
    return _mm512_maskz_loadu_epi8(~__mmask64{0} >> (size - count), from);
  }
  [[gnu::always_inline]] static floats zero() noexcept { return _mm512_setzero_ps(); }
  [[gnu::always_inline]] static floats scales(const float16* stored, std::size_t count, std::size_t,
                                              const float* inputs) noexcept {
    const __m256i halves = _mm256_maskz_loadu_epi16(static_cast<__mmask16>((1U << count) - 1), stored);
    return _mm512_mul_ps(_mm512_cvtph_ps(halves), _mm512_loadu_ps(inputs));
  }
  // The block of each lane, and the lanes of later blocks.
  template <int LanesOfBlock>
  [[gnu::always_inline]] static bytes places() noexcept {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_srli_epi32(lane, LanesOfBlock == 8 ? 3 : 2);
  }
  [[gnu::always_inline]] static bytes later(bytes place, int blocks) noexcept {
    return _mm512_add_epi32(place, _mm512_set1_epi32(blocks));
  }
  [[gnu::always_inline]] static bytes dot8(bytes begin, bytes stored, bytes input) noexcept {
    return _mm512_dpbusd_epi32(begin, _mm512_xor_si512(stored, _mm512_set1_epi8(-128)), input);
  }
  [[gnu::always_inline]] static bytes dot4(bytes begin, bytes stored, bytes even, bytes odd) noexcept {
    const __m512i low = _mm512_set1_epi8(15);
    const __m512i first = _mm512_dpbusd_epi32(begin, _mm512_and_si512(stored, low), even);
    return _mm512_dpbusd_epi32(first, _mm512_and_si512(_mm512_srli_epi16(stored, 4), low), odd);
  }
  [[gnu::always_inline]] static floats add(floats sum, bytes whole, floats scales, bytes place) noexcept {
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole), _mm512_permutexvar_ps(place, scales), sum);
  }
  // The sums of four registers.
  [[gnu::always_inline]] static __m128 totals(floats a, floats b, floats c, floats d) noexcept {
    const __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    const __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
    const __m512 all = _mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x44), _mm512_shuffle_ps(ab, cd, 0xee));
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1));
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
  }
};
#elif defined(__AVX2__) && defined(__FMA__)
#define DIMWISE_DETAIL_BLOCK_REGISTERS 1
// Registers of 32 bytes; products of bytes are summed in 16 bits.
struct block_registers {
  using bytes = __m256i;
  using floats = __m256;
  static constexpr std::size_t size = 32;
  static constexpr bool joins_blocks = true;  // eight of 4 bits are multiplied together
  [[gnu::always_inline]] static bytes load(const void* from) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
  [[gnu::always_inline]] static bytes load_partial(const void* from, std::size_t count) noexcept {
    if (count == size / 2) return _mm256_zextsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(from)));
    alignas(32) unsigned char part[size] = {};
    __builtin_memcpy(part, from, count);
    return load(part);
  }
  [[gnu::always_inline]] static floats zero() noexcept { return _mm256_setzero_ps(); }
  // `before`: how many scales of the row lie before these. The last ones are read with them, and moved to the front.
  [[gnu::always_inline]] static floats scales(const float16* stored, std::size_t count, std::size_t before,
                                              const float* inputs) noexcept {
    using halves = widen<xsimd::fma3<xsimd::avx2>, number_format::float16>;
    const auto* const from = reinterpret_cast<const unsigned char*>(stored);
    if (count == 8) return _mm256_mul_ps((floats)halves::load(from, 0), _mm256_loadu_ps(inputs));
    if (before + count < 8) return _mm256_mul_ps((floats)halves::load_partial(from, 0, count), _mm256_loadu_ps(inputs));
    static constexpr signed char places[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                               -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    const std::size_t skipped = 2 * (8 - count);
    const __m128i last = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from - skipped));
    const __m128i moved = _mm_shuffle_epi8(last, _mm_loadu_si128(reinterpret_cast<const __m128i*>(places + skipped)));
    return _mm256_mul_ps((floats)halves::load(reinterpret_cast<const unsigned char*>(&moved), 0),
                         _mm256_loadu_ps(inputs));
  }
  template <int LanesOfBlock>
  [[gnu::always_inline]] static bytes places() noexcept {
    return LanesOfBlock == 8 ? _mm256_setzero_si256() : _mm256_set_epi32(1, 1, 1, 1, 0, 0, 0, 0);
  }
  [[gnu::always_inline]] static bytes later(bytes place, int blocks) noexcept {
    return _mm256_add_epi32(place, _mm256_set1_epi32(blocks));
  }
  // Magnitudes times signed inputs: no sum of two exceeds 16 bits, and no offset must be subtracted.
  [[gnu::always_inline]] static bytes dot8(bytes, bytes stored, bytes input) noexcept {
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_sign_epi8(stored, stored), _mm256_sign_epi8(input, stored));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  }
  // Sums of four products, in 16 bits.
  [[gnu::always_inline]] static bytes words4(bytes stored, bytes even, bytes odd) noexcept {
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i first = _mm256_maddubs_epi16(_mm256_and_si256(stored, low), even);
    const __m256i second = _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16(stored, 4), low), odd);
    return _mm256_add_epi16(first, second);
  }
  [[gnu::always_inline]] static bytes dot4(bytes begin, bytes stored, bytes even, bytes odd) noexcept {
    return _mm256_add_epi32(begin, _mm256_madd_epi16(words4(stored, even, odd), _mm256_set1_epi16(1)));
  }
  // The sums of eight blocks of 4 bits, a lane each, in the order below. Sixteen products of 15 and 127 fit 16 bits.
  [[gnu::always_inline]] static bytes blocks(bytes begin, const bytes (&words)[4]) noexcept {
    const auto halves = [](bytes a, bytes b) __attribute__((always_inline)) {
      return (floats)_mm256_add_epi16(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    };
    const floats low = halves(words[0], words[1]);
    const floats high = halves(words[2], words[3]);
    const bytes even = (bytes)_mm256_shuffle_ps(low, high, 0x88);
    const bytes odd = (bytes)_mm256_shuffle_ps(low, high, 0xdd);
    return _mm256_add_epi32(begin, _mm256_madd_epi16(_mm256_add_epi16(even, odd), _mm256_set1_epi16(1)));
  }
  [[gnu::always_inline]] static bytes order_of_blocks() noexcept { return _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0); }
  [[gnu::always_inline]] static floats add(floats sum, bytes whole, floats scales, bytes place) noexcept {
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(whole), _mm256_permutevar8x32_ps(scales, place), sum);
  }
  [[gnu::always_inline]] static __m128 totals(floats a, floats b, floats c, floats d) noexcept {
    const __m256 ab = _mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    const __m256 cd = _mm256_add_ps(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
    const __m256 all = _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xee));
    return _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
  }
};
#endif

// The number of weight rows that are read at once, and the prefetch distances in bytes: of weights from the first of
// them, and of each row's scales.
struct reading_plan {
  std::size_t rows;
  std::size_t of_weights = 0;
  std::size_t of_scales = 0;
  [[nodiscard]] constexpr reading_plan without_asking() const noexcept { return {rows}; }
};
inline constexpr reading_plan short_rows{4, 8192, 2048};
inline constexpr reading_plan long_rows{2, 8192, 2048};
inline constexpr std::size_t longest_short_row = 512;  // elements; arithmetic limits short rows, and four share more

#if defined(DIMWISE_DETAIL_BLOCK_REGISTERS)
#undef DIMWISE_DETAIL_BLOCK_REGISTERS

// sums[i] = row i of the weights times the inputs. The order of additions does not depend on the number of rows.
template <bool Four, reading_plan Plan, class Registers = block_registers>
[[gnu::always_inline]] inline void block_rows(const input_row& x, const input_layout& layout,
                                              const quantised_rows_at& weights, float* sums) noexcept {
  using reg = Registers;
  using bytes_n = typename reg::bytes;
  using floats_n = typename reg::floats;
  constexpr std::size_t rows = Plan.rows;
  constexpr std::size_t lanes_of_register = reg::size / 4;
  constexpr int lanes_of_block = Four ? 4 : 8;
  constexpr int blocks_of_register = static_cast<int>(lanes_of_register) / lanes_of_block;
  static_assert(rows <= 4);
  const std::size_t bytes = Four ? (layout.k + 1) / 2 : layout.k;
  const std::size_t blocks = (layout.k + block_numbers - 1) / block_numbers;
  const std::int8_t* const odd = x.numbers + layout.padded / 2;
  const unsigned char* row[rows];
  const float16* scales_of[rows];
  floats_n sum[4] = {reg::zero(), reg::zero(), reg::zero(), reg::zero()};
#pragma GCC unroll 4
  for (std::size_t r = 0; r < rows; ++r) {
    row[r] = weights.at(r);
    scales_of[r] = weights.scales_at(r);
  }
  const auto scales_at = [&](std::size_t r, std::size_t block, std::size_t here) __attribute__((always_inline)) {
    if constexpr (Plan.of_scales > 0) {
      __builtin_prefetch(reinterpret_cast<const unsigned char*>(scales_of[r] + block) + Plan.of_scales, 0, 3);
    }
    return reg::scales(scales_of[r] + block, here, block, x.scale + block);
  };
  [[maybe_unused]] const unsigned char* ahead = row[0] + Plan.of_weights;
  const auto prefetch = [&](std::size_t size) __attribute__((always_inline)) {
    if constexpr (Plan.of_weights > 0) {
      for (std::size_t byte = 0; byte < size; byte += 64) __builtin_prefetch(ahead + byte, 0, 3);
      ahead += size;
    }
  };
  std::size_t at = 0;
  std::size_t block = 0;
  if constexpr (Four && reg::joins_blocks) {
    for (; block < 8 * eights_of_blocks(layout.k); at += 4 * reg::size, block += 8) {
      const bytes_n begin = reg::load(x.begin + at / 4);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < rows; ++r) {
        prefetch(4 * reg::size);
        bytes_n words[4];
#pragma GCC unroll 4
        for (std::size_t i = 0; i < 4; ++i) {
          const std::size_t from = at + i * reg::size;
          words[i] = reg::words4(reg::load(row[r] + from), reg::load(x.numbers + from), reg::load(odd + from));
        }
        sum[r] = reg::add(sum[r], reg::blocks(begin, words), scales_at(r, block, 8), reg::order_of_blocks());
      }
    }
  }
  for (; block < blocks; block += lanes_of_register) {
    const std::size_t here = min(lanes_of_register, blocks - block);
    floats_n scales[rows];
#pragma GCC unroll 4
    for (std::size_t r = 0; r < rows; ++r) scales[r] = scales_at(r, block, here);
    bytes_n place = reg::template places<lanes_of_block>();
    const auto add = [&](auto load) __attribute__((always_inline)) {
      const bytes_n begin = reg::load(x.begin + at / 4);
      const bytes_n numbers = reg::load(x.numbers + at);
      [[maybe_unused]] const bytes_n others = Four ? reg::load(odd + at) : numbers;
      prefetch(rows * reg::size);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < rows; ++r) {
        const bytes_n w = load(row[r] + at);
        const bytes_n whole = Four ? reg::dot4(begin, w, numbers, others) : reg::dot8(begin, w, numbers);
        sum[r] = reg::add(sum[r], whole, scales[r], place);
      }
      place = reg::later(place, blocks_of_register);
    };
    const std::size_t end = min(bytes, at + here * (block_numbers / (Four ? 2 : 1)));
    for (; at + reg::size <= end; at += reg::size) add([](const unsigned char* from) { return reg::load(from); });
    if (at + reg::size / 2 == end) {
      add([](const unsigned char* from) { return reg::load_partial(from, reg::size / 2); });
    } else if (at < end) {
      add([count = end - at](const unsigned char* from) { return reg::load_partial(from, count); });
    }
    at = end;
  }
  alignas(16) float all[4];
  _mm_store_ps(all, reg::totals(sum[0], sum[1], sum[2], sum[3]));
  __builtin_memcpy(sums, all, rows * sizeof(float));
}

#else

// Sums of integers, which compilers vectorise.
template <bool Four, reading_plan Plan>
[[gnu::always_inline]] inline void block_rows(const input_row& x, const input_layout& layout,
                                              const quantised_rows_at& weights, float* sums) noexcept {
  const std::int8_t* const odd = x.numbers + layout.padded / 2;
  for (std::size_t r = 0; r < Plan.rows; ++r) {
    const unsigned char* const row = weights.at(r);
    const float16* const scales = weights.scales_at(r);
    float sum = 0;
    for (std::size_t block = 0; block * block_numbers < layout.k; ++block) {
      const std::size_t first = block * block_numbers;
      const std::size_t count = min(block_numbers, layout.k - first);
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
      sum += static_cast<float>(whole) * (x.scale[block] * static_cast<float>(scales[block]));
    }
    sums[r] = sum;
  }
}

#endif

// Sums of `weights.rows` rows with `count` rows of inputs, `width` apart. `sums` needs room for a multiple of
// `Plan.rows`.
template <bool Four, reading_plan Plan>
[[gnu::noinline]] void block_sums(const input_row* x, std::size_t count, const input_layout& layout,
                                  const quantised_rows_at& weights, float* sums, std::size_t width) noexcept {
  for (std::size_t j = 0; j < weights.rows; j += Plan.rows) {
    const quantised_rows_at here = weights.from(j);
    block_rows<Four, Plan>(x[0], layout, here, sums + j);
    for (std::size_t r = 1; r < count; ++r) {
      block_rows<Four, Plan.without_asking()>(x[r], layout, here, sums + r * width + j);
    }
  }
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
