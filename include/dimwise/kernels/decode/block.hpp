// dimwise/kernels/decode/block.hpp -- a few query rows against a block of keys, if reading K and V dominates the cost.
//
// Layer: kernels. Includes: attention/layout.hpp, simd.hpp.
// Tests: tests/kernels/decode/attention.test.cpp, tests/kernels/decode/stored.test.cpp
//
// Lanes are features. Rows of K and V are loaded into registers once, as stored, and combined with every query row of
// the group.
//
// History: 1. four keys at once, with prefetches: hardware prefetchers do not follow four rows. 2. key after key, in
// memory order. 3. eight vectors of V for one query row, so that a row of 64 features is read once and in order. 4. up
// to four query rows at once; hundreds of keys, then their values, because long runs are read faster than short turns
// of K and V (12 heads of 64 features from the last-level cache of a Zen 4 core: 68 GB/s in turns of 64 keys, 80 in
// turns of 512); on AVX2, where arithmetic takes longer than reading, the other matrix is prefetched meanwhile; low
// precision is converted in registers (decode/stored.hpp). On that core, limited to AVX2, four query rows of 128
// features read 37 GB/s instead of 29 (arithmetic allows 59), and one row of 64 features reads bfloat16 at 39 GB/s
// instead of 17, int8 at 20 instead of 9. 5. on AVX2, one query of 64 features stays in registers: half of the loads
// were its own (12 heads of 512 keys: 41.5 to 39.0 µs, of 2048 keys: 165 to 154 µs). 6. on AVX-512, several rows
// prefetch what they read 8 KB later. On a Zen 5 core (128 features, GB/s from the last-level cache, then from memory)
// two query rows went from 81 and 28 to 90 and 41, four from 70 and 19 to 76 and 31, eight from 40 and 13 to 38 and 23;
// on AVX2 that was slower than prefetching the other matrix.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/layout.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>
#include <type_traits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

/// Query rows that use a row of K or V while it is in a register.
inline constexpr std::size_t decode_rows_at_once = 4;
/// Query rows that share a register of sums: a power of two.
template <std::size_t Rows>
inline constexpr std::size_t decode_row_slots = Rows == 3 ? 4 : Rows;
/// Keys whose sums are added up across their registers together.
template <class Arch, std::size_t Rows>
inline constexpr std::size_t decode_keys_at_once =
    lanes<Arch> / decode_row_slots<Rows> < 4 ? lanes<Arch> / decode_row_slots<Rows> : 4;
/// Vectors of V side by side: the accumulators of `Rows` query rows take half of the registers.
template <class Arch, std::size_t Rows>
inline constexpr std::size_t decode_vectors =
    (lanes<Arch> >= 16 ? 16 : 8) / decode_row_slots<Rows> < 8 ? (lanes<Arch> >= 16 ? 16 : 8) / decode_row_slots<Rows>
                                                              : 8;

/// Whether prefetching pays: arithmetic takes longer than reading. One row of floats is read faster without.
template <class Arch, std::size_t Rows, class Source>
inline constexpr bool decode_prefetches = Rows > 1 && (Source::prefetches || lanes<Arch> < 16);
/// Whether the rows that follow are prefetched instead: several rows are read in another order than memory's, which
/// hardware prefetchers do not follow.
template <class Arch, std::size_t Rows, class Source>
inline constexpr bool decode_prefetches_on = Rows > 1 && !decode_prefetches<Arch, Rows, Source>;
/// From a row of floats to the one that is read 8 KB later.
[[nodiscard]] constexpr std::ptrdiff_t decode_further(std::size_t features, std::ptrdiff_t row) noexcept {
  constexpr std::size_t distance = 8192 / sizeof(float);
  return features == 0 ? 0 : static_cast<std::ptrdiff_t>(distance / features + 1) * row;
}

/// Calls f(count, first) for all rows, a few at a time.
template <class F>
[[gnu::always_inline]] inline void each_rows(std::size_t rows, const F& f) noexcept {
  std::size_t r = 0;
  for (; r + 4 <= rows; r += 4) f(std::integral_constant<std::size_t, 4>{}, r);
  if (r + 3 == rows) f(std::integral_constant<std::size_t, 3>{}, r);
  if (r + 2 == rows) f(std::integral_constant<std::size_t, 2>{}, r);
  if (r + 1 == rows) f(std::integral_constant<std::size_t, 1>{}, r);
}

/// Rows of floats as stored.
template <class Arch>
struct float_rows {
  static constexpr std::size_t bytes = sizeof(float);
  static constexpr bool prefetches = false;

  const float* data;
  std::ptrdiff_t row;
  std::ptrdiff_t further = 0;  ///< to the row to prefetch; 0: none

  [[nodiscard, gnu::always_inline]] float_rows from(std::size_t i, std::size_t c = 0) const noexcept {
    return {data + static_cast<std::ptrdiff_t>(i) * row + c, row, further};
  }
  /// Prefetches the register of the row that is `further` than row `i`.
  [[gnu::always_inline]] void prefetch_on([[maybe_unused]] std::size_t i,
                                          [[maybe_unused]] std::size_t c) const noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(data + static_cast<std::ptrdiff_t>(i) * row + c + further, 0, 3);
#endif
  }
  /// The register of row `i` from feature `c` on.
  [[nodiscard, gnu::always_inline]] floats<Arch> load(std::size_t i, std::size_t c) const noexcept {
    return kernels::load<Arch>(data + static_cast<std::ptrdiff_t>(i) * row + c);
  }
  [[nodiscard, gnu::always_inline]] floats<Arch> load_partial(std::size_t i, std::size_t c,
                                                              std::size_t count) const noexcept {
    return kernels::load_partial<Arch>(data + static_cast<std::ptrdiff_t>(i) * row + c, count);
  }
};

/// Prefetches one line of `ahead` for each line of the `Bytes` that are read now.
template <std::size_t Bytes>
[[gnu::always_inline]] inline void prefetch(next_lines& ahead) noexcept {
#if defined(__GNUC__)
#pragma GCC unroll 8
  for (std::size_t line = 0; line < (Bytes + 63) / 64; ++line, ahead.at += ahead.step)
    __builtin_prefetch(ahead.at, 0, 3);
#endif
}

// scores[r * decode_score_row + i] = q[r] . k[i] for `Rows` rows and `Keys` keys. q is padded with zeros to whole
// vectors. One row takes key after key; with more rows, each query register is combined with all keys.
template <class Arch, std::size_t Rows, std::size_t Keys, class Source>
[[gnu::always_inline]] inline void dot_rows(const float* q, std::size_t q_row, const Source& k, std::size_t features,
                                            float scale, float* scores, next_lines& ahead) noexcept {
  // The number of sums as a power of two, at most one vector of them.
  constexpr std::size_t row_slots = decode_row_slots<Rows>;
  static_assert(row_slots * Keys <= lanes<Arch>);
  floats<Arch> sums[row_slots * Keys];
#pragma GCC unroll 16
  for (floats<Arch>& sum : sums) sum = floats<Arch>(0.0F);
  const auto go_over_features = [&](const Source& of, auto step) __attribute__((always_inline)) {
    std::size_t c = 0;
    const auto load_whole = [&](std::size_t i) __attribute__((always_inline)) { return of.load(i, c); };
    // A loop of a few turns ends with a branch that processors predict badly.
    for (; c + 4 * lanes<Arch> <= features;) {
#pragma GCC unroll 4
      for (std::size_t x = 0; x < 4; ++x, c += lanes<Arch>) step(c, load_whole);
    }
    for (; c + lanes<Arch> <= features; c += lanes<Arch>) step(c, load_whole);
    if (c < features)
      step(c, [&](std::size_t i) __attribute__((always_inline)) { return of.load_partial(i, c, features - c); });
  };
  if constexpr (Rows == 1) {
    Source of = k;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < Keys; ++i, of = of.from(1)) {
      go_over_features(of, [&](std::size_t c, auto load_key) __attribute__((always_inline)) {
        sums[i] = fma<Arch>(load_aligned<Arch>(q + c), load_key(0), sums[i]);
        if constexpr (decode_prefetches<Arch, Rows, Source>) prefetch<lanes<Arch> * Source::bytes>(ahead);
      });
    }
  } else {
    go_over_features(k, [&](std::size_t c, auto load_key) __attribute__((always_inline)) {
      floats<Arch> key[Keys];
#pragma GCC unroll 4
      for (std::size_t i = 0; i < Keys; ++i) key[i] = load_key(i);
      if constexpr (decode_prefetches_on<Arch, Rows, Source>) {
        if (k.further != 0) {
#pragma GCC unroll 4
          for (std::size_t i = 0; i < Keys; ++i) k.prefetch_on(i, c);
        }
      }
#pragma GCC unroll 4
      for (std::size_t r = 0; r < Rows; ++r) {
        const floats<Arch> query = load_aligned<Arch>(q + r * q_row + c);
#pragma GCC unroll 4
        for (std::size_t i = 0; i < Keys; ++i) sums[r * Keys + i] = fma<Arch>(query, key[i], sums[r * Keys + i]);
      }
      if constexpr (decode_prefetches<Arch, Rows, Source>) prefetch<Keys * lanes<Arch> * Source::bytes>(ahead);
    });
  }
  alignas(64) float sum[lanes<Arch>];
  store_aligned<Arch>(&sum[0], sum_rows<Arch>(sums) * floats<Arch>(scale));
#pragma GCC unroll 4
  for (std::size_t r = 0; r < Rows; ++r)
    __builtin_memcpy(scores + r * decode_score_row, &sum[r * Keys], Keys * sizeof(float));
}

// scores[i] = q . k[i] for `Keys` keys of `Vectors` whole vectors, an even number; the query is in registers.
template <class Arch, std::size_t Vectors, std::size_t Keys, class Source>
[[gnu::always_inline]] inline void dot_row(const floats<Arch> (&q)[Vectors], Source k, float scale,
                                           float* scores) noexcept {
  static_assert(Keys <= lanes<Arch>);
  floats<Arch> sums[Keys];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < Keys; ++i, k = k.from(1)) {
    floats<Arch> odd = q[1] * k.load(0, lanes<Arch>);
    sums[i] = q[0] * k.load(0, 0);
#pragma GCC unroll 4
    for (std::size_t x = 2; x < Vectors; x += 2) {
      sums[i] = fma<Arch>(q[x], k.load(0, x * lanes<Arch>), sums[i]);
      odd = fma<Arch>(q[x + 1], k.load(0, (x + 1) * lanes<Arch>), odd);
    }
    sums[i] = sums[i] + odd;
  }
  alignas(64) float sum[lanes<Arch>];
  store_aligned<Arch>(&sum[0], sum_rows<Arch>(sums) * floats<Arch>(scale));
  __builtin_memcpy(scores, &sum[0], Keys * sizeof(float));
}
template <class Arch, std::size_t Vectors, class Source>
[[gnu::always_inline]] inline void dot_row_block(const float* q, Source k, std::size_t keys, float scale,
                                                 float* scores) noexcept {
  constexpr std::size_t at_once = decode_keys_at_once<Arch, 1>;
  floats<Arch> query[Vectors];
#pragma GCC unroll 8
  for (std::size_t x = 0; x < Vectors; ++x) query[x] = load_aligned<Arch>(q + x * lanes<Arch>);
  std::size_t j = 0;
  for (; j + at_once <= keys; j += at_once, k = k.from(at_once))
    dot_row<Arch, Vectors, at_once>(query, k, scale, scores + j);
  for (; j < keys; ++j, k = k.from(1)) dot_row<Arch, Vectors, 1>(query, k, scale, scores + j);
}

/// scores[r, j] = q[r] . k[j] for `keys` keys.
template <class Arch, std::size_t Rows, class Source>
[[gnu::noinline]] void dot_block(const float* q, std::size_t q_row, Source k, std::size_t features, std::size_t keys,
                                 float scale, float* scores, next_lines ahead) noexcept {
  if constexpr (Rows == 1 && lanes<Arch> == 8 && std::is_same_v<Source, float_rows<Arch>>) {
    if (features == 8 * lanes<Arch>) return dot_row_block<Arch, 8>(q, k, keys, scale, scores);
  }
  constexpr std::size_t at_once = decode_keys_at_once<Arch, Rows>;
  std::size_t j = 0;
  for (; j + at_once <= keys; j += at_once, k = k.from(at_once))
    dot_rows<Arch, Rows, at_once>(q, q_row, k, features, scale, scores + j, ahead);
  for (; j < keys; ++j, k = k.from(1)) dot_rows<Arch, Rows, 1>(q, q_row, k, features, scale, scores + j, ahead);
}

// out[r] = out[r] * rescale[r] + sum_j weights[r, j] v[j] for `Vectors` whole vectors of features, or a part of one.
template <class Arch, std::size_t Rows, std::size_t Vectors, bool Partial, class Source>
[[gnu::always_inline]] inline void add_columns(const float* weights, Source v, std::size_t keys, std::size_t features,
                                               float* out, std::size_t out_row, const float* rescale,
                                               next_lines& ahead) noexcept {
  floats<Arch> acc[Rows][Vectors];
#pragma GCC unroll 4
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Vectors; ++i) {
      acc[r][i] = load_aligned<Arch>(out + r * out_row + i * lanes<Arch>) * floats<Arch>(rescale[r]);
    }
  }
  const auto add_key = [&](std::size_t j) __attribute__((always_inline)) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Vectors; ++i) {
      if constexpr (decode_prefetches_on<Arch, Rows, Source>) {
        if (v.further != 0) v.prefetch_on(0, i * lanes<Arch>);
      }
      const floats<Arch> value = Partial ? v.load_partial(0, i * lanes<Arch>, features) : v.load(0, i * lanes<Arch>);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < Rows; ++r) {
        acc[r][i] = fma<Arch>(floats<Arch>(weights[r * decode_score_row + j]), value, acc[r][i]);
      }
    }
    if constexpr (decode_prefetches<Arch, Rows, Source>) prefetch<Vectors * lanes<Arch> * Source::bytes>(ahead);
    v = v.from(1);
  };
  if constexpr (Rows == 1) {
    for (std::size_t j = 0; j < keys; ++j) add_key(j);
  } else {
#pragma GCC unroll 2
    for (std::size_t j = 0; j < keys; ++j) add_key(j);
  }
#pragma GCC unroll 4
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Vectors; ++i) { store_aligned<Arch>(out + r * out_row + i * lanes<Arch>, acc[r][i]); }
  }
}

/// out[r] = out[r] * rescale[r] + sum_j weights[r, j] v[j]. Rows of out are padded to whole vectors.
template <class Arch, std::size_t Rows, class Source>
[[gnu::noinline]] void add_block(const float* weights, const Source& v, std::size_t keys, std::size_t features,
                                 float* out, std::size_t out_row, const float* rescale, next_lines ahead) noexcept {
  constexpr std::size_t n = lanes<Arch>;
  constexpr std::size_t many = decode_vectors<Arch, Rows>;
  std::size_t c = 0;
  for (; c + many * n <= features; c += many * n) {
    add_columns<Arch, Rows, many, false>(weights, v.from(0, c), keys, n, out + c, out_row, rescale, ahead);
  }
  if constexpr (many == 8) {
    for (; c + 4 * n <= features; c += 4 * n)
      add_columns<Arch, Rows, 4, false>(weights, v.from(0, c), keys, n, out + c, out_row, rescale, ahead);
  }
  for (; c + n <= features; c += n) {
    add_columns<Arch, Rows, 1, false>(weights, v.from(0, c), keys, n, out + c, out_row, rescale, ahead);
  }
  if (c < features) {
    add_columns<Arch, Rows, 1, true>(weights, v.from(0, c), keys, features - c, out + c, out_row, rescale, ahead);
  }
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
