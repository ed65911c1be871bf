// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/quantised/inputs.hpp -- conversion of the rows of A for products with quantized weights.
//
// Layer: kernels. Includes: quantised/rows.hpp, quantised_table.hpp.
// Tests: tests/kernels/quantised/product.test.cpp
//
// Four 8-bit integers form a lane of 32 bits. Products of unsigned and signed bytes use the stored integers plus 128
// (plus 8 for 4 bits, as stored), so every lane starts at −128 or −8 times the sum of its inputs. In panels
// `panel_zero` represents 0.
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/quantised_table.hpp>
#include <dimwise/kernels/quantised/rows.hpp>

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

// The formats of a converted row: floats, bfloat16, 8 bits for dot products with rows of 8 or 4 bits, 8 bits for
// panels.
enum class input_form : unsigned char { floats, bfloat16, dots8, dots4, panels };

/// The byte that represents 0 in panels of weights: AVX2 multiplies 8-bit weights with their sign.
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
  const std::int8_t* numbers;  // dots4: the even elements, then the odd ones
  const std::int32_t* begin;   // the initial value of each lane's sum; in panels of each block's sum
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

  [[nodiscard]] std::size_t bytes() const noexcept {
    if (form == input_form::floats) return 0;
    if (form == input_form::bfloat16) return padded * sizeof(std::uint16_t);
    const std::size_t all = padded + sums * sizeof(std::int32_t) + blocks * sizeof(float);
    return (all + 63) / 64 * 64;
  }
  [[nodiscard]] input_row at(const unsigned char* scratch, std::size_t row, const float* floats) const noexcept {
    const unsigned char* const first = scratch + row * bytes();
    return {reinterpret_cast<const std::int8_t*>(first), reinterpret_cast<const std::int32_t*>(first + padded),
            reinterpret_cast<const float*>(first + padded + sums * sizeof(std::int32_t)),
            reinterpret_cast<const std::uint16_t*>(first), floats};
  }
};

// Rounds 32 floats to the nearest integers, ties to even. Products are rounded first: no fused operation.
[[gnu::always_inline]] inline void nearest_numbers(const float* x, float factor, std::int8_t* to) noexcept {
#if defined(__SSE2__)
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

// Quantizes one block to 8 bits; returns its scale, which is NaN if an element is not finite.
[[gnu::always_inline]] inline float quantise_block(const float* x, std::int8_t* to) noexcept {
  std::uint32_t bits[block_numbers];
  std::memcpy(bits, x, sizeof(bits));
  std::uint32_t largest = 0;
  for (const std::uint32_t one : bits) {
    const std::uint32_t size = one & 0x7fffffffU;
    largest = size > largest ? size : largest;
  }
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

// Quantizes a row to 8 bits.
[[gnu::noinline]] inline void quantise_row(const input_layout& layout, const float* x, unsigned char* to) noexcept {
  auto* const numbers = reinterpret_cast<std::int8_t*>(to);
  auto* const begin = reinterpret_cast<std::int32_t*>(to + layout.padded);
  auto* const scale = reinterpret_cast<float*>(to + layout.padded + layout.sums * sizeof(std::int32_t));
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
    if (layout.form == input_form::panels) {
      std::memcpy(numbers + at, block, block_numbers);
      begin[b] = -layout.zero * sum_of(block, block_numbers);
    } else if (layout.form == input_form::dots8) {
      std::memcpy(numbers + at, block, block_numbers);
      for (std::size_t l = 0; l < 8; ++l) begin[b * 8 + l] = -128 * sum_of(block + 4 * l, 4);
    } else {
      for (std::size_t i = 0; i < block_numbers / 2; ++i) {
        numbers[at / 2 + i] = block[2 * i];
        numbers[layout.padded / 2 + at / 2 + i] = block[2 * i + 1];
      }
      for (std::size_t l = 0; l < 4; ++l) begin[b * 4 + l] = -8 * sum_of(block + 8 * l, 8);
    }
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

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
