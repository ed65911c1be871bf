// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/quantised/inputs.hpp -- conversion of the rows of A for products with quantized weights.
//
// Layer: kernels. Includes: quantised/rows.hpp, quantised_table.hpp.
// Tests: tests/kernels/quantised/product.test.cpp
//
// Four 8-bit integers form a lane of 32 bits. Products of unsigned and signed bytes use the stored integers plus 128
// (plus 8 for 4 bits, as stored), so every lane starts at −128 or −8 times the sum of its inputs. In panels
// `panel_zero` represents 0, or integers have 16 bits (`words`).
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/quantised_table.hpp>
#include <dimwise/kernels/quantised/rows.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

inline constexpr std::size_t block_numbers = 32;  // elements per scale

// dots4 on AVX2: how many times eight blocks of a row are multiplied together. Each of these blocks has one initial
// value, in the order of `order_of_blocks` (blocks.hpp); the other blocks have one for each lane.
[[nodiscard]] constexpr std::size_t eights_of_blocks(std::size_t k) noexcept {
  return (k + 1) / 2 / (8 * block_numbers / 2);
}

// The formats of a converted row: floats, bfloat16, 8 bits for dot products with rows of 8 or 4 bits, 8 bits for
// panels, and the same integers in 16 bits for panels of 8-bit weights on AVX2; floats with the even elements of every
// sixteen first, for dot products with bfloat16 on AVX2.
enum class input_form : unsigned char { floats, bfloat16, dots8, dots4, panels, words, even_first };

/// The byte that represents 0 in panels of weights.
[[nodiscard]] constexpr std::int32_t panel_zero([[maybe_unused]] number_format format) noexcept {
#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
  return 128;
#else
  return format == number_format::int4 ? 8 : 0;
#endif
}

// A converted row of inputs in scratch. `numbers` are padded with zeros to `row_padding`.
inline constexpr std::size_t row_padding = 128;
struct input_row {
  const std::int8_t* numbers;  // dots4: the even elements, then the odd ones; words: the bytes of 16-bit integers
  const std::int32_t* begin;   // the initial value of each lane's sum; in panels of each block's sum (`panel_begin`)
  const float* scale;          // the scale of each block
  const std::uint16_t* halves;
  const float* floats;
};
struct input_layout {
  input_form form;
  std::size_t k;
  std::int32_t zero = 0;  // panels: the byte that represents 0
  std::size_t padded = (k + row_padding - 1) / row_padding * row_padding;
  std::size_t blocks = (padded / block_numbers + 15) / 16 * 16;  // padded to whole registers
  std::size_t sums = form == input_form::dots8 ? padded / 4 : form == input_form::dots4 ? padded / 8 : blocks;
  std::size_t number_bytes = padded * (form == input_form::words ? sizeof(std::int16_t) : 1);

  [[nodiscard]] std::size_t bytes() const noexcept {
    if (form == input_form::floats) return 0;
    if (form == input_form::bfloat16) return padded * sizeof(std::uint16_t);
    if (form == input_form::even_first) return padded * sizeof(float);
    const std::size_t all = number_bytes + sums * sizeof(std::int32_t) + blocks * sizeof(float);
    return (all + 63) / 64 * 64;
  }
  [[nodiscard]] input_row at(const unsigned char* scratch, std::size_t row, const float* floats) const noexcept {
    const unsigned char* const first = scratch + row * bytes();
    return {reinterpret_cast<const std::int8_t*>(first), reinterpret_cast<const std::int32_t*>(first + number_bytes),
            reinterpret_cast<const float*>(first + number_bytes + sums * sizeof(std::int32_t)),
            reinterpret_cast<const std::uint16_t*>(first),
            form == input_form::even_first ? reinterpret_cast<const float*>(first) : floats};
  }
};

// Rounds 32 floats to the nearest integers, ties to even. Products are rounded first: no fused operation.
[[gnu::always_inline]] inline void nearest_numbers(const float* x, float factor, std::int8_t* to) noexcept {
#if defined(__AVX2__)
  const __m256 by = _mm256_set1_ps(factor);
  const auto eight = [&](std::size_t at) { return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + at), by)); };
  const __m256i low = _mm256_packs_epi32(eight(0), eight(8));
  const __m256i high = _mm256_packs_epi32(eight(16), eight(24));
  // Packing works within halves of a register.
  const __m256i order = _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order));
#elif defined(__SSE2__)
  const __m128 by = _mm_set1_ps(factor);
  for (std::size_t i = 0; i < block_numbers; i += 16) {
    const auto four = [&](std::size_t at) { return _mm_cvtps_epi32(_mm_mul_ps(_mm_loadu_ps(x + i + at), by)); };
    const __m128i low = _mm_packs_epi32(four(0), four(4));
    const __m128i high = _mm_packs_epi32(four(8), four(12));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm_packs_epi16(low, high));
  }
#else
  for (std::size_t i = 0; i < block_numbers; ++i) to[i] = static_cast<std::int8_t>(std::nearbyint(x[i] * factor));
#endif
}

// The bits of the largest magnitude of a block.
[[gnu::always_inline]] inline std::uint32_t largest_bits(const float* x) noexcept {
#if defined(__AVX2__)
  const auto* const from = reinterpret_cast<const __m256i*>(x);
  const __m256i without_sign = _mm256_set1_epi32(0x7fffffff);
  const auto size = [&](std::size_t i) { return _mm256_and_si256(_mm256_loadu_si256(from + i), without_sign); };
  const __m256i eight = _mm256_max_epi32(_mm256_max_epi32(size(0), size(1)), _mm256_max_epi32(size(2), size(3)));
  __m128i all = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  all = _mm_max_epi32(all, _mm_shuffle_epi32(all, 0x4e));
  all = _mm_max_epi32(all, _mm_shuffle_epi32(all, 0xb1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(all));
#else
  std::uint32_t bits[block_numbers];
  std::memcpy(bits, x, sizeof(bits));
  std::uint32_t largest = 0;
  for (const std::uint32_t one : bits) {
    const std::uint32_t size = one & 0x7fffffffU;
    largest = size > largest ? size : largest;
  }
  return largest;
#endif
}

// Quantizes one block to 8 bits; returns its scale, which is NaN if an element is not finite.
[[gnu::always_inline]] inline float quantise_block(const float* x, std::int8_t* to) noexcept {
  const std::uint32_t largest = largest_bits(x);
  if (largest >= 0x7f800000U) {
    std::memset(to, 0, block_numbers);
    return std::numeric_limits<float>::quiet_NaN();
  }
  const auto farthest = std::bit_cast<float>(largest);
  const float scale = farthest / 127.0F;
  nearest_numbers(x, scale == 0.0F ? 0.0F : 127.0F / farthest, to);
  return scale;
}

[[gnu::always_inline]] inline std::int32_t sum_of(const std::int8_t* x, std::size_t count) noexcept {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += x[i];
  return sum;
}

#if defined(__AVX2__)
// The sums of the pairs of a block, in 16 bits.
[[gnu::always_inline]] inline __m256i sums_of_pairs(const std::int8_t* block) noexcept {
  return _mm256_maddubs_epi16(_mm256_set1_epi8(1), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block)));
}
// The sums of each four.
[[gnu::always_inline]] inline __m256i sums_of_fours(const std::int8_t* block) noexcept {
  return _mm256_madd_epi16(sums_of_pairs(block), _mm256_set1_epi16(1));
}
#endif

// Stores the integers of block b, and what the sums of the block start from, in the form of a row. In a panel without
// byte products into 32 bits, these are two 16-bit integers: for the first and the second pair of each four elements.
[[gnu::always_inline]] inline void store_block(const input_layout& layout, std::size_t b, const std::int8_t* block,
                                               unsigned char* row) noexcept {
  const std::size_t at = b * block_numbers;
  auto* const numbers = reinterpret_cast<std::int8_t*>(row);
  auto* const begin = reinterpret_cast<std::int32_t*>(row + layout.number_bytes);
  switch (layout.form) {
    case input_form::words: {
      auto* const words = reinterpret_cast<std::int16_t*>(row) + at;
      std::copy_n(block, block_numbers, words);
      return;
    }
    case input_form::panels: {
      std::memcpy(numbers + at, block, block_numbers);
#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
      begin[b] = -layout.zero * sum_of(block, block_numbers);
#elif defined(__AVX2__)
      const __m256i pairs = sums_of_pairs(block);
      __m128i all = _mm_add_epi16(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
      all = _mm_add_epi16(all, _mm_shuffle_epi32(all, 0x4e));
      all = _mm_add_epi16(all, _mm_shuffle_epi32(all, 0xb1));
      all = _mm_mullo_epi16(all, _mm_set1_epi16(static_cast<std::int16_t>(-layout.zero)));
      begin[b] = _mm_cvtsi128_si32(all);
#else
      std::int32_t pairs[2] = {0, 0};
      for (std::size_t i = 0; i < block_numbers; i += 4) {
        pairs[0] += block[i] + block[i + 1];
        pairs[1] += block[i + 2] + block[i + 3];
      }
      const auto half = [&](std::int32_t sum) { return static_cast<std::uint32_t>(-layout.zero * sum) & 0xffffU; };
      begin[b] = static_cast<std::int32_t>(half(pairs[0]) | half(pairs[1]) << 16);
#endif
      return;
    }
    case input_form::dots8:
      std::memcpy(numbers + at, block, block_numbers);
#if defined(__AVX2__)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(begin + b * 8),
                          _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(sums_of_fours(block), 7)));
#else
      for (std::size_t l = 0; l < 8; ++l) begin[b * 8 + l] = -128 * sum_of(block + 4 * l, 4);
#endif
      return;
    case input_form::dots4: {
#if defined(__AVX2__)
      const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block));
      const __m256i evens_first =
          _mm256_broadcastsi128_si256(_mm_set_epi8(15, 13, 11, 9, 7, 5, 3, 1, 14, 12, 10, 8, 6, 4, 2, 0));
      const __m256i halves = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(all, evens_first), 0xd8);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(numbers + at / 2), _mm256_castsi256_si128(halves));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(numbers + layout.padded / 2 + at / 2),
                       _mm256_extracti128_si256(halves, 1));
      const __m256i fours = sums_of_fours(block);
      const __m128i eights = _mm_hadd_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1));
#if !(defined(__AVX512VNNI__) && defined(__AVX512BW__))
      if (b / 8 < eights_of_blocks(layout.k)) {
        const __m128i halves_of_sum = _mm_hadd_epi32(eights, eights);
        const std::int32_t sum = _mm_cvtsi128_si32(_mm_hadd_epi32(halves_of_sum, halves_of_sum));
        begin[b / 8 * 32 + b % 2 * 4 + b % 8 / 2] = -8 * sum;
        return;
      }
#endif
      _mm_storeu_si128(reinterpret_cast<__m128i*>(begin + b * 4),
                       _mm_sub_epi32(_mm_setzero_si128(), _mm_slli_epi32(eights, 3)));
#else
      for (std::size_t i = 0; i < block_numbers / 2; ++i) {
        numbers[at / 2 + i] = block[2 * i];
        numbers[layout.padded / 2 + at / 2 + i] = block[2 * i + 1];
      }
      for (std::size_t l = 0; l < 4; ++l) begin[b * 4 + l] = -8 * sum_of(block + 8 * l, 8);
#endif
      return;
    }
    case input_form::floats:
    case input_form::bfloat16:
    case input_form::even_first:
      return;
  }
}

// Quantizes a row to 8 bits.
[[gnu::noinline]] inline void quantise_row(const input_layout& layout, const float* x, unsigned char* to) noexcept {
  auto* const scale = reinterpret_cast<float*>(to + layout.number_bytes + layout.sums * sizeof(std::int32_t));
  std::memset(to, 0, layout.bytes());
  for (std::size_t b = 0; b * block_numbers < layout.k; ++b) {
    const std::size_t at = b * block_numbers;
    alignas(64) std::int8_t block[block_numbers];
    if (at + block_numbers <= layout.k) {
      scale[b] = quantise_block(x + at, block);
    } else {
      float last[block_numbers] = {};
      std::memcpy(last, x + at, (layout.k - at) * sizeof(float));
      scale[b] = quantise_block(last, block);
    }
    store_block(layout, b, block, to);
  }
}

// Rounds a row to bfloat16.
[[gnu::noinline]] inline void round_row(const input_layout& layout, const float* x, unsigned char* to) noexcept {
  auto* const halves = reinterpret_cast<std::uint16_t*>(to);
  std::size_t i = 0;
#if defined(__AVX512BF16__)
  // Treats numbers below 2^-126 as 0, as the products do.
  for (; i + 32 <= layout.k; i += 32) {
    const auto both = (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + i + 16), _mm512_loadu_ps(x + i));
    _mm512_storeu_si512(halves + i, both);
  }
#endif
  for (; i < layout.k; ++i) halves[i] = dimwise::bfloat16(x[i]).bits;
  std::memset(halves + layout.k, 0, (layout.padded - layout.k) * sizeof(std::uint16_t));
}

// Moves the even elements of every sixteen before the odd ones, and rounds them to bfloat16 if `rounds`.
[[gnu::noinline]] inline void separate_row(const input_layout& layout, const float* x, bool rounds,
                                           unsigned char* to) noexcept {
  auto* const separated = reinterpret_cast<float*>(to);
  std::memset(to, 0, layout.bytes());
  for (std::size_t i = 0; i < layout.k; ++i) {
    separated[i / 16 * 16 + i % 2 * 8 + i % 16 / 2] = rounds ? static_cast<float>(dimwise::bfloat16(x[i])) : x[i];
  }
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
