// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/quantised/panels.hpp -- products of many input rows with quantized weights, by instructions for 8-bit
// or 16-bit products.
//
// Layer: kernels. Includes: simd.hpp, quantised/inputs.hpp, quantised/dots.hpp.
// Tests: tests/kernels/quantised/product.test.cpp
//
// A panel interleaves as many rows of weights as a register has lanes, 4 bytes of each row side by side: a register of
// weights is multiplied by one broadcast lane of inputs, and no sum crosses lanes. 4-bit weights are unpacked to bytes
// in the panel, once for all rows of inputs.
//
// AVX2 has no product of four bytes into 32 bits. 4-bit weights stay unsigned there: eight products of pairs fit 16
// bits, which is a block. Two products of 8-bit weights do not fit: weights and inputs are widened to 16 bits as they
// are packed, and pairs of products are summed in 32 bits. On a Zen 4 core a product and an addition of integers take
// 0.7 cycles of a register of 32 bytes, not 0.5, because both go to the same units: the limit is 169 GFLOP/s (8 bits)
// and 340 (4 bits) where floats have 118.
//
// Version 1 had panels on AVX-512 alone; other machines used dot products for every row of inputs. Version 2 multiplied
// magnitudes of 8-bit weights by inputs with the sign of the weight on AVX2. Version 3 widens them, starts the sums of
// 4 bits from what their offset adds, takes sixteen rows of inputs for each panel that is in the L1 cache, and
// quantizes inputs in registers. GFLOP/s of 128 rows (benchmarks/kernels/quantised.cpp, one Zen 4 core):
//
//   AVX2, version         1     2     3
//   8 bits, 768 x 768    60   113   145
//   8 bits, 288 x 288    28    98   139
//   4 bits, 768 x 768    68   156   235
//   4 bits, 288 x 288    19   126   207
//
// On AVX-512 the product of 288 x 288 went from 235 to 261 (both), of 768 x 768 from 301 to 316 (8 bits).
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/quantised/dots.hpp>
#include <dimwise/kernels/simd.hpp>

#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
#define DIMWISE_DETAIL_PANEL_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#define DIMWISE_DETAIL_PANEL_BYTES 32
#endif

#if defined(DIMWISE_DETAIL_PANEL_BYTES)

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

inline constexpr std::size_t panel_bytes = DIMWISE_DETAIL_PANEL_BYTES;  // of a register
inline constexpr std::size_t rows_of_panel = panel_bytes / 4;
inline constexpr std::size_t tile_panels = 2;

#if DIMWISE_DETAIL_PANEL_BYTES == 64
// Transposes 16 rows of 64 bytes, each byte XORed with a mask: lane d of row r becomes lane r of row d.
[[gnu::always_inline]] inline void turn_lanes(const unsigned char* from, std::size_t row, int change,
                                              unsigned char* to) noexcept {
  __m512i a[16];
  __m512i b[16];
  const __m512i bits = _mm512_set1_epi8(static_cast<char>(change));
#pragma GCC unroll 16
  for (std::size_t r = 0; r < 16; ++r) a[r] = _mm512_xor_si512(_mm512_loadu_si512(from + r * row), bits);
#pragma GCC unroll 8
  for (std::size_t r = 0; r < 16; r += 2) {
    b[r] = _mm512_unpacklo_epi32(a[r], a[r + 1]);
    b[r + 1] = _mm512_unpackhi_epi32(a[r], a[r + 1]);
  }
#pragma GCC unroll 4
  for (std::size_t r = 0; r < 16; r += 4) {
    a[r] = _mm512_unpacklo_epi64(b[r], b[r + 2]);
    a[r + 1] = _mm512_unpackhi_epi64(b[r], b[r + 2]);
    a[r + 2] = _mm512_unpacklo_epi64(b[r + 1], b[r + 3]);
    a[r + 3] = _mm512_unpackhi_epi64(b[r + 1], b[r + 3]);
  }
  // a[4 q + i] holds lanes i, i + 4, i + 8, i + 12 of rows 4 q … 4 q + 3.
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) {
    const __m512i low = _mm512_shuffle_i32x4(a[i], a[4 + i], 0x44);
    const __m512i high = _mm512_shuffle_i32x4(a[i], a[4 + i], 0xee);
    const __m512i low2 = _mm512_shuffle_i32x4(a[8 + i], a[12 + i], 0x44);
    const __m512i high2 = _mm512_shuffle_i32x4(a[8 + i], a[12 + i], 0xee);
    _mm512_storeu_si512(to + 64 * i, _mm512_shuffle_i32x4(low, low2, 0x88));
    _mm512_storeu_si512(to + 64 * (i + 4), _mm512_shuffle_i32x4(low, low2, 0xdd));
    _mm512_storeu_si512(to + 64 * (i + 8), _mm512_shuffle_i32x4(high, high2, 0x88));
    _mm512_storeu_si512(to + 64 * (i + 12), _mm512_shuffle_i32x4(high, high2, 0xdd));
  }
}
#else
// Transposes 8 rows of 32 bytes, or of 16 that are widened (`Widens`): lane d of row r becomes lane r of row d.
template <bool Widens>
[[gnu::always_inline]] inline void turn_lanes(const unsigned char* from, std::size_t row, unsigned char* to) noexcept {
  __m256i a[8];
  __m256i b[8];
#pragma GCC unroll 8
  for (std::size_t r = 0; r < 8; ++r) {
    const unsigned char* const at = from + r * row;
    a[r] = Widens ? _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)))
                  : _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  }
#pragma GCC unroll 4
  for (std::size_t r = 0; r < 8; r += 2) {
    b[r] = _mm256_unpacklo_epi32(a[r], a[r + 1]);
    b[r + 1] = _mm256_unpackhi_epi32(a[r], a[r + 1]);
  }
#pragma GCC unroll 2
  for (std::size_t r = 0; r < 8; r += 4) {
    a[r] = _mm256_unpacklo_epi64(b[r], b[r + 2]);
    a[r + 1] = _mm256_unpackhi_epi64(b[r], b[r + 2]);
    a[r + 2] = _mm256_unpacklo_epi64(b[r + 1], b[r + 3]);
    a[r + 3] = _mm256_unpackhi_epi64(b[r + 1], b[r + 3]);
  }
  // a[4 q + i] holds lanes i and i + 4 of rows 4 q … 4 q + 3.
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) {
    auto* const rows = reinterpret_cast<__m256i*>(to);
    _mm256_storeu_si256(rows + i, _mm256_permute2x128_si256(a[i], a[4 + i], 0x20));
    _mm256_storeu_si256(rows + i + 4, _mm256_permute2x128_si256(a[i], a[4 + i], 0x31));
  }
}
#endif

// The bytes of a row in a panel, padded with zeros; 4-bit integers become bytes relative to `panel_zero`.
[[gnu::noinline]] inline void spread_row(const quantised_product_call& c, const unsigned char* __restrict from,
                                         std::size_t padded, unsigned char* __restrict to) noexcept {
  std::size_t bytes = c.k * (c.format == number_format::bfloat16 ? 2 : 1);
  if (c.format == number_format::int4) {
    bytes = (c.k + 1) / 2 * 2;
    constexpr unsigned added = panel_zero(number_format::int4) - 8;
    std::size_t i = 0;
    for (; i + 16 <= bytes / 2; i += 16) {
      const __m128i low_bits = _mm_set1_epi8(15);
      const __m128i both = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
      const __m128i even = _mm_and_si128(both, low_bits);
      const __m128i odd = _mm_and_si128(_mm_srli_epi16(both, 4), low_bits);
      const __m128i by = _mm_set1_epi8(static_cast<char>(added));
      auto* const at = reinterpret_cast<__m128i*>(to + 2 * i);
      _mm_storeu_si128(at, _mm_add_epi8(_mm_unpacklo_epi8(even, odd), by));
      _mm_storeu_si128(at + 1, _mm_add_epi8(_mm_unpackhi_epi8(even, odd), by));
    }
    for (; i < bytes / 2; ++i) {
      to[2 * i] = static_cast<unsigned char>((from[i] & 15U) + added);
      to[2 * i + 1] = static_cast<unsigned char>((from[i] >> 4) + added);
    }
  } else {
    __builtin_memcpy(to, from, bytes);
  }
  __builtin_memset(to + bytes, 0, padded - bytes);
}

struct quantised_panel {
  unsigned char* numbers;  // [bytes of a row / 4][rows_of_panel][4]
  float* scales;           // [blocks][rows_of_panel]
};

// Packs `rows_of_panel` rows of weights into a panel; `rows` is scratch for as many rows.
[[gnu::noinline]] inline void pack_panel(const quantised_product_call& c, const quantised_rows_at& b,
                                         std::size_t padded, unsigned char* rows, const quantised_panel& to) noexcept {
  const unsigned char* from = b.data;
  auto row = static_cast<std::size_t>(b.row);
  std::size_t end = c.k * (c.format == number_format::bfloat16 ? 2 : 1);
  if (c.format == number_format::int4 || b.rows < rows_of_panel || end % panel_bytes != 0) {
    for (std::size_t r = 0; r < rows_of_panel; ++r) spread_row(c, b.at(r), padded, rows + r * padded);
    from = rows;
    row = end = padded;
  }
  for (std::size_t at = 0; at < end; at += panel_bytes) {
#if defined(__GNUC__)
    // Hardware prefetchers do not follow so many rows at once. Prefetches each row four lines ahead of its
    // transposition, and the first lines of the next panel after the last ones of this panel.
    const std::size_t later = at + 256 < end ? at + 256 : at + 256 - end + rows_of_panel * row;
    for (std::size_t r = 0; r < rows_of_panel; ++r) __builtin_prefetch(from + later + r * row, 0, 3);
#endif
#if DIMWISE_DETAIL_PANEL_BYTES == 64
    turn_lanes(from + at, row, c.format == number_format::int8 ? -128 : 0, to.numbers + at * rows_of_panel);
#else
    unsigned char* const lanes_of = to.numbers + at * rows_of_panel * (c.format == number_format::int8 ? 2 : 1);
    if (c.format == number_format::int8) {
      turn_lanes<true>(from + at, row, lanes_of);
      turn_lanes<true>(from + at + panel_bytes / 2, row, lanes_of + panel_bytes * rows_of_panel);
    } else {
      turn_lanes<false>(from + at, row, lanes_of);
    }
#endif
  }
  if (c.scales == nullptr) return;
  const std::size_t blocks = (c.k + block_numbers - 1) / block_numbers;
  for (std::size_t r = 0; r < rows_of_panel; ++r) {
    const float16* const scales = b.scales_at(r);
    for (std::size_t i = 0; i < blocks; ++i) to.scales[i * rows_of_panel + r] = static_cast<float>(scales[i]);
  }
}

#if DIMWISE_DETAIL_PANEL_BYTES == 64
[[gnu::always_inline]] inline __m512i broadcast_lane(const void* from) noexcept {
  int lane;
  __builtin_memcpy(&lane, from, sizeof(lane));
  return _mm512_set1_epi32(lane);
}

// out[r * width …]: `Rows` rows of 8-bit inputs times two panels.
template <std::size_t Rows>
[[gnu::noinline]] void int8_tile(const input_row* x, std::size_t blocks, const quantised_panel* p, float* out,
                                 std::size_t width) noexcept {
  __m512 sum[Rows][tile_panels];
#pragma GCC unroll 8
  for (std::size_t r = 0; r < Rows; ++r) sum[r][0] = sum[r][1] = _mm512_setzero_ps();
  const unsigned char* first = p[0].numbers;
  const unsigned char* second = p[1].numbers;
  for (std::size_t b = 0; b < blocks; ++b) {
    __m512i whole[Rows][tile_panels];
#pragma GCC unroll 8
    for (std::size_t r = 0; r < Rows; ++r) whole[r][0] = whole[r][1] = _mm512_set1_epi32(x[r].begin[b]);
#pragma GCC unroll 8
    for (std::size_t s = 0; s < block_numbers; s += 4, first += 64, second += 64) {
      const __m512i w0 = _mm512_loadu_si512(first);
      const __m512i w1 = _mm512_loadu_si512(second);
#pragma GCC unroll 8
      for (std::size_t r = 0; r < Rows; ++r) {
        const __m512i in = broadcast_lane(x[r].numbers + b * block_numbers + s);
        whole[r][0] = _mm512_dpbusd_epi32(whole[r][0], w0, in);
        whole[r][1] = _mm512_dpbusd_epi32(whole[r][1], w1, in);
      }
    }
    const __m512 scale0 = _mm512_loadu_ps(p[0].scales + b * rows_of_panel);
    const __m512 scale1 = _mm512_loadu_ps(p[1].scales + b * rows_of_panel);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < Rows; ++r) {
      const __m512 in = _mm512_set1_ps(x[r].scale[b]);
      sum[r][0] = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(whole[r][0]), in), scale0, sum[r][0]);
      sum[r][1] = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(whole[r][1]), in), scale1, sum[r][1]);
    }
  }
#pragma GCC unroll 8
  for (std::size_t r = 0; r < Rows; ++r) {
    _mm512_storeu_ps(out + r * width, sum[r][0]);
    _mm512_storeu_ps(out + r * width + rows_of_panel, sum[r][1]);
  }
}

#if defined(__AVX512BF16__)
// The same for inputs and weights of bfloat16; `lanes_of_row` pairs.
template <std::size_t Rows>
[[gnu::noinline]] void bfloat16_tile(const input_row* x, std::size_t lanes_of_row, const quantised_panel* p, float* out,
                                     std::size_t width) noexcept {
  __m512 sum[Rows][tile_panels];
#pragma GCC unroll 12
  for (std::size_t r = 0; r < Rows; ++r) sum[r][0] = sum[r][1] = _mm512_setzero_ps();
  for (std::size_t l = 0; l < lanes_of_row; ++l) {
    const auto w0 = (__m512bh)_mm512_loadu_si512(p[0].numbers + 64 * l);
    const auto w1 = (__m512bh)_mm512_loadu_si512(p[1].numbers + 64 * l);
#pragma GCC unroll 12
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto in = (__m512bh)broadcast_lane(x[r].halves + 2 * l);
      sum[r][0] = _mm512_dpbf16_ps(sum[r][0], w0, in);
      sum[r][1] = _mm512_dpbf16_ps(sum[r][1], w1, in);
    }
  }
#pragma GCC unroll 12
  for (std::size_t r = 0; r < Rows; ++r) {
    _mm512_storeu_ps(out + r * width, sum[r][0]);
    _mm512_storeu_ps(out + r * width + rows_of_panel, sum[r][1]);
  }
}
#endif
#else
[[gnu::always_inline]] inline __m256i broadcast_lane(const void* from) noexcept {
  int lane;
  __builtin_memcpy(&lane, from, sizeof(lane));
  return _mm256_set1_epi32(lane);
}

// Written as instructions: g++ 12 reorders additions of integers, copies all sums in each step, and loads a register
// again for each of its uses. Products of 128 rows were 9 % slower.
template <bool Four>
[[gnu::always_inline]] inline void add_to(__m256i& sum, __m256i x) noexcept {
  if constexpr (Four) asm("vpaddw %1, %0, %0" : "+x"(sum) : "x"(x));
  else asm("vpaddd %1, %0, %0" : "+x"(sum) : "x"(x));
}
[[gnu::always_inline]] inline void stay_in_register(__m256i& x) noexcept { asm("" : "+x"(x)); }

// out[r * width …]: `Rows` rows of 8-bit inputs times two panels of weights of 4 bits (`Four`) or 8. Of 4 bits, a lane
// holds the 16-bit sums of two pairs; of 8 bits, weights and inputs have 16 bits.
template <std::size_t Rows, bool Four>
[[gnu::noinline]] void byte_tile(const input_row* x, std::size_t blocks, const quantised_panel* p, float* out,
                                 std::size_t width) noexcept {
  constexpr std::size_t lanes_of_block = block_numbers / (Four ? 4 : 2);
  const __m256i ones = _mm256_set1_epi16(1);
  __m256 sum[Rows][tile_panels];
  const std::int8_t* in[Rows];
#pragma GCC unroll 4
  for (std::size_t r = 0; r < Rows; ++r) {
    sum[r][0] = sum[r][1] = _mm256_setzero_ps();
    in[r] = x[r].numbers;
  }
  const auto* first = reinterpret_cast<const __m256i*>(p[0].numbers);
  const auto* second = reinterpret_cast<const __m256i*>(p[1].numbers);
  for (std::size_t b = 0; b < blocks; ++b) {
    __m256i whole[Rows][tile_panels];
#pragma GCC unroll 4
    for (std::size_t r = 0; r < Rows; ++r) {
      whole[r][0] = whole[r][1] = Four ? _mm256_set1_epi32(x[r].begin[b]) : _mm256_setzero_si256();
    }
#pragma GCC unroll 2
    for (std::size_t s = 0; s < lanes_of_block; ++s, ++first, ++second) {
      __m256i w[tile_panels] = {_mm256_loadu_si256(first), _mm256_loadu_si256(second)};
      stay_in_register(w[0]);
      stay_in_register(w[1]);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < Rows; ++r) {
        const __m256i lane = broadcast_lane(in[r] + 4 * s);
#pragma GCC unroll 2
        for (std::size_t i = 0; i < tile_panels; ++i) {
          add_to<Four>(whole[r][i], Four ? _mm256_maddubs_epi16(w[i], lane) : _mm256_madd_epi16(w[i], lane));
        }
      }
    }
#pragma GCC unroll 2
    for (std::size_t i = 0; i < tile_panels; ++i) {
      const __m256 scale = _mm256_loadu_ps(p[i].scales + b * rows_of_panel);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < Rows; ++r) {
        const __m256i all = Four ? _mm256_madd_epi16(whole[r][i], ones) : whole[r][i];
        const __m256 by = _mm256_set1_ps(x[r].scale[b]);
        sum[r][i] = _mm256_fmadd_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(all), by), scale, sum[r][i]);
      }
    }
#pragma GCC unroll 4
    for (std::size_t r = 0; r < Rows; ++r) in[r] += 4 * lanes_of_block;
  }
#pragma GCC unroll 4
  for (std::size_t r = 0; r < Rows; ++r) {
    _mm256_storeu_ps(out + r * width, sum[r][0]);
    _mm256_storeu_ps(out + r * width + rows_of_panel, sum[r][1]);
  }
}
#endif

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail

#endif
