// dimwise/kernels/attention/bfloat16.hpp -- attention in bfloat16 products: the parts that differ from float.
//
// Layer: kernels. Includes: attention/pack.hpp, attention/softmax.hpp.
// Tests: tests/kernels/attention/bfloat16.test.cpp. Benchmark: benchmarks/bench_attention.cpp
//
// A lane holds two neighbours: two features of q and k, two keys of weights and values. One instruction multiplies both
// pairs and adds them to a float, as fast as one float multiply-add, so the tiles of attention/tile.hpp do twice the
// work. Queries are rounded once, keys and values once per task, and weights before the division by their sum. Maxima,
// exponentials and sums stay float. The instruction treats numbers below 2^-126 as 0.
//
// Weights need only 8 bits of precision: 2^x by a polynomial of degree 4 has an error below 3e-6.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/pack.hpp>
#include <dimwise/kernels/attention/softmax.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>

#include <cstddef>
#include <cstdint>

#if defined(__AVX512BF16__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define DIMWISE_DETAIL_BFLOAT16_ATTENTION

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

template <class Arch>
struct bfloat16_pairs {
  static constexpr bool scale_in_queries = false;
  [[nodiscard, gnu::always_inline]] static floats<Arch> multiply_add(const floats<Arch>& a, const floats<Arch>& b,
                                                                     const floats<Arch>& c) noexcept {
    return floats<Arch>(
        _mm512_dpbf16_ps(c.data, (__m512bh)_mm512_castps_si512(a.data), (__m512bh)_mm512_castps_si512(b.data)));
  }
};

// The number format that attention_task uses.
template <class Arch>
struct bfloat16_numbers {
  using lanes_type = bfloat16_pairs<Arch>;
  static constexpr std::size_t in_lane = 2;

  // A power of 2 is folded into q exactly; the rest of the scale, from 1 to 2, is applied to the scores.
  [[nodiscard, gnu::always_inline]] static float scale_of_queries(float scale) noexcept {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &scale, sizeof(bits));
    bits &= 0x7f800000U;
    if (bits == 0 || bits == 0x7f800000U) return 1.0F;
    float power;
    __builtin_memcpy(&power, &bits, sizeof(power));
    return power;
  }
  [[nodiscard, gnu::always_inline]] static float scale_of_scores(float scale) noexcept {
    return scale / scale_of_queries(scale);
  }

  /// strip[c / 2, i] = the features c and c + 1 of query i; lanes past the last query repeat it.
  [[gnu::noinline]] static void pack_strip(const matrix_view<const float>& from, std::size_t rows, std::size_t features,
                                           float factor, float* strip) noexcept {
    constexpr std::size_t n = lanes<Arch>;
    const floats<Arch> by(factor);
    for (std::size_t i = 0; i < rows; i += n) {
      const std::size_t high = rows - i < n ? rows - i : n;
      for (std::size_t c = 0; c < features; c += 2 * n) {
        const std::size_t wide = features - c < 2 * n ? features - c : 2 * n;
        square<Arch> low;
        square<Arch> next;
        load_square<Arch>(low, {from.at(i, c), from.row, from.feature}, high, wide < n ? wide : n);
        if (wide > n) {
          load_square<Arch>(next, {from.at(i, c + n), from.row, from.feature}, high, wide - n);
        } else {
          for (floats<Arch>& row : next) row = floats<Arch>(0.0F);
        }
        for (std::size_t r = 0; r < n; ++r)
          low[r] = r < high ? rounded(scaled(low[r], by), scaled(next[r], by)) : low[high - 1];
        transpose<Arch>(low);
        for (std::size_t r = 0; 2 * r < wide; ++r)
          store_aligned<Arch>(strip + (c / 2 + r) * strip_width<Arch> + i, low[r]);
      }
    }
  }

  /// Rows of feature pairs, (features + 1) / 2 lanes apart.
  [[gnu::noinline]] static void pack_keys(const matrix_view<const float>& from, std::size_t rows, std::size_t features,
                                          float* to) noexcept {
    constexpr std::size_t n = lanes<Arch>;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t c = 0; c < features; c += 2 * n) {
        const std::size_t wide = features - c < 2 * n ? features - c : 2 * n;
        const floats<Arch> low = neighbours(from, i, c, wide < n ? wide : n);
        const floats<Arch> high = neighbours(from, i, c + n, wide < n ? 0 : wide - n);
        store_partial<Arch>(to, (wide + 1) / 2, rounded(low, high));
        to += (wide + 1) / 2;
      }
    }
  }
  [[gnu::noinline]] static void pack_keys(const quantised_data& from, std::size_t begin, std::size_t rows,
                                          std::size_t features, float* to) noexcept {
    const auto* row = static_cast<const std::uint16_t*>(from.data) + static_cast<std::ptrdiff_t>(begin) * from.row;
    for (std::size_t i = 0; i < rows; ++i, row += from.row, to += (features + 1) / 2) {
      if (features % 2 != 0) to[features / 2] = 0;
      __builtin_memcpy(to, row, features * sizeof(std::uint16_t));
    }
  }

  /// Rows of features, one lane for two keys; an odd last key is paired with zeros.
  [[gnu::noinline]] static void pack_values(const matrix_view<const float>& from, std::size_t rows,
                                            std::size_t features, float* to) noexcept {
    constexpr std::size_t n = lanes<Arch>;
    for (std::size_t i = 0; i < rows; i += 2, to += features) {
      for (std::size_t c = 0; c < features; c += n) {
        const std::size_t wide = features - c < n ? features - c : n;
        const floats<Arch> second = i + 1 < rows ? neighbours(from, i + 1, c, wide) : floats<Arch>(0.0F);
        store_partial<Arch>(to + c, wide, side_by_side(neighbours(from, i, c, wide), second));
      }
    }
  }
  [[gnu::noinline]] static void pack_values(const quantised_data& from, std::size_t begin, std::size_t rows,
                                            std::size_t features, float* to) noexcept {
    constexpr std::size_t n = lanes<Arch>;
    const auto* row = static_cast<const std::uint16_t*>(from.data) + static_cast<std::ptrdiff_t>(begin) * from.row;
    for (std::size_t i = 0; i < rows; i += 2, row += 2 * from.row, to += features) {
      for (std::size_t c = 0; c < features; c += n) {
        const std::size_t wide = features - c < n ? features - c : n;
        const auto some = static_cast<__mmask16>((1U << wide) - 1U);
        const auto both = i + 1 < rows ? some : __mmask16{0};
        const __m256i first = _mm256_maskz_loadu_epi16(some, row + c);
        const __m256i second = _mm256_maskz_loadu_epi16(both, i + 1 < rows ? row + from.row + c : row);
        const __m512i pairs = _mm512_or_si512(_mm512_maskz_cvtepu16_epi32(0xffff, first),
                                              _mm512_slli_epi32(_mm512_maskz_cvtepu16_epi32(0xffff, second), 16));
        store_partial<Arch>(to + c, wide, floats<Arch>(_mm512_castsi512_ps(pairs)));
      }
    }
  }

  /// Whether the packed values of `keys` keys are finite; their rows are adjacent.
  [[nodiscard, gnu::noinline]] static bool all_finite(const float* from, std::ptrdiff_t, std::size_t keys,
                                                      std::size_t features) noexcept {
    const std::size_t lanes_of_keys = (keys + 1) / in_lane;
    const __m512i exponent = _mm512_set1_epi16(0x7f80);
    for (std::size_t c = 0; c < lanes_of_keys * features; c += lanes<Arch>) {
      const std::size_t left = lanes_of_keys * features - c;
      const floats<Arch> x = load_partial<Arch>(from + c, left < lanes<Arch> ? left : lanes<Arch>);
      const __m512i bits = _mm512_and_si512(_mm512_castps_si512(x.data), exponent);
      if (_mm512_cmpeq_epi16_mask(bits, exponent) != 0) return false;
    }
    return true;
  }

  /// `weigh` of attention/softmax.hpp with two keys per lane, in half as many rows. Keys that pad a lane weigh 0.
  /// Marked weights stay floats, one per lane, and are rounded.
  template <bool MarkHidden>
  [[gnu::noinline]] static void weigh(float* scores, const keys_per_vector<Arch>& keys, std::size_t vectors,
                                      const softmax_state<Arch>& state, float* rescale) noexcept {
    using vec = floats<Arch>;
    const vec hidden(-infinity);
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t first_lane = v * lanes<Arch>;
      const vec maximum = load_aligned<Arch>(state.maximum + first_lane);
      const vec against = select<Arch>(maximum == hidden, vec(0.0F), maximum);
      const vec factor = exp_of(load_aligned<Arch>(state.reference + first_lane) - against);
      float* const column = scores + first_lane;
      const auto logit = [&](std::size_t j) __attribute__((always_inline)) {
        return load_aligned<Arch>(column + j * strip_width<Arch>);
      };
      vec sum[2] = {vec(0.0F), vec(0.0F)};
      std::size_t j = keys.begin[v];
      const std::size_t end = keys.end[v];
      if constexpr (MarkHidden) {
        for (; j < end; ++j) {
          const vec score = logit(j);
          const vec weight = exp_of(score - against);
          sum[0] = sum[0] + weight;
          const auto half = (__m256i)_mm512_cvtneps_pbh(weight.data);
          const vec again(_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_maskz_cvtepu16_epi32(0xffff, half), 16)));
          store_aligned<Arch>(column + j * strip_width<Arch>, select<Arch>(score == hidden, vec(-0.0F), again));
        }
      } else {
        const auto put = [&](std::size_t pair, const vec& first, const vec& second) __attribute__((always_inline)) {
          store_aligned<Arch>(column + pair * strip_width<Arch>, side_by_side(first, second));
        };
        if (j % 2 != 0 && j < end) {
          const vec weight = exp_of(logit(j) - against);
          sum[1] = weight;
          put(j / 2, vec(0.0F), weight);
          ++j;
        }
        for (; j + 2 <= end; j += 2) {
          const vec first = exp_of(logit(j) - against);
          const vec second = exp_of(logit(j + 1) - against);
          sum[0] = sum[0] + first;
          sum[1] = sum[1] + second;
          put(j / 2, first, second);
        }
        if (j < end) {
          const vec weight = exp_of(logit(j) - against);
          sum[0] = sum[0] + weight;
          put(j / 2, weight, vec(0.0F));
        }
      }
      store_aligned<Arch>(state.reference + first_lane, maximum);
      store_aligned<Arch>(state.sum + first_lane,
                          fma<Arch>(load_aligned<Arch>(state.sum + first_lane), factor, sum[0] + sum[1]));
      store_aligned<Arch>(rescale + first_lane, factor);
    }
  }

  /// `add_marked_keys` of packed values: a key marked as hidden adds nothing at all.
  [[gnu::noinline]] static void add_marked_keys(const float* weights, const float* v, std::ptrdiff_t v_row,
                                                const keys_per_vector<Arch>& keys, std::size_t vectors, float* out,
                                                const float* rescale) noexcept {
    for (std::size_t i = 0; i < vectors; ++i) {
      const std::size_t first_lane = i * lanes<Arch>;
      floats<Arch> acc = load_aligned<Arch>(rescale + first_lane) * load_aligned<Arch>(out + first_lane);
      for (std::size_t j = keys.begin[i]; j < keys.end[i]; ++j) {
        const floats<Arch> weight = load_aligned<Arch>(weights + j * strip_width<Arch> + first_lane);
        std::uint32_t pair;
        __builtin_memcpy(&pair, v + static_cast<std::ptrdiff_t>(j / 2) * v_row, sizeof(pair));
        const std::uint32_t bits = j % 2 == 0 ? pair << 16 : pair & 0xffff0000U;
        float value;
        __builtin_memcpy(&value, &bits, sizeof(value));
        acc = select<Arch>(marks_hidden<Arch>(weight), acc, fma<Arch>(weight, floats<Arch>(value), acc));
      }
      store_aligned<Arch>(out + first_lane, acc);
    }
  }

 private:
  // Rounded; the lanes of `low` come first.
  [[nodiscard, gnu::always_inline]] static floats<Arch> rounded(const floats<Arch>& low,
                                                                const floats<Arch>& high) noexcept {
    return floats<Arch>(_mm512_castsi512_ps((__m512i)_mm512_cvtne2ps_pbh(high.data, low.data)));
  }
  // A number that rounds to infinity stays infinite under any scale.
  [[nodiscard, gnu::always_inline]] static floats<Arch> scaled(const floats<Arch>& x, const floats<Arch>& by) noexcept {
    const __m512 size =
        _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(x.data), _mm512_set1_epi32(0x7fffffff)));
    const __mmask16 too_large = _mm512_cmp_ps_mask(size, _mm512_set1_ps(0x1.ffp127F), _CMP_GE_OQ);
    return floats<Arch>(_mm512_mask_mul_ps((x * by).data, too_large, x.data, _mm512_set1_ps(infinity)));
  }
  // Rounded, two numbers per lane.
  [[nodiscard, gnu::always_inline]] static floats<Arch> side_by_side(const floats<Arch>& first,
                                                                     const floats<Arch>& second) noexcept {
    alignas(64) static constexpr std::uint16_t order[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                            21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                            11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    const __m512i halves = (__m512i)_mm512_cvtne2ps_pbh(second.data, first.data);
    return floats<Arch>(
        _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(0xffffffffU, _mm512_load_si512(&order[0]), halves)));
  }
  [[nodiscard, gnu::always_inline]] static floats<Arch> neighbours(const matrix_view<const float>& from, std::size_t i,
                                                                   std::size_t c, std::size_t count) noexcept {
    if (count == 0) return floats<Arch>(0.0F);
    if (from.feature == 1 && count == lanes<Arch>) return load<Arch>(from.at(i, c));
    if (from.feature == 1) return load_partial<Arch>(from.at(i, c), count);
    alignas(64) float gathered[lanes<Arch>] = {};
    for (std::size_t at = 0; at < count; ++at) gathered[at] = *from.at(i, c + at);
    return load_aligned<Arch>(&gathered[0]);
  }
  // e^x for x <= 0, NaN for NaN, exactly 1 for 0 and 0 for -inf.
  [[nodiscard, gnu::always_inline]] static floats<Arch> exp_of(const floats<Arch>& x) noexcept {
    using vec = floats<Arch>;
    const vec y = x * vec(1.44269504F);
    // The fractional part of y; 0 for -inf, which scalef then turns into 0.
    const vec f(_mm512_maskz_reduce_ps(0xffff, y.data, 0x09));
    vec p = fma<Arch>(f, vec(0x1.b7f730p-7F), vec(0x1.abf868p-5F));
    p = fma<Arch>(p, f, vec(0x1.ee2450p-3F));
    p = fma<Arch>(p, f, vec(0x1.62d6c6p-1F));
    p = fma<Arch>(p, f, vec(1.0F));
    return vec(_mm512_maskz_scalef_ps(0xffff, p.data, y.data));
  }
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail

#endif
