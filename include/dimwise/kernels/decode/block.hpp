// dimwise/kernels/decode/block.hpp -- a few query rows against a block of keys, if reading K and V dominates the cost.
//
// Layer: kernels. Includes: simd.hpp.
// Tests: tests/kernels/decode/attention.test.cpp
//
// Lanes are features. Rows of K and V are loaded into registers once, as stored, and combined with every query row of
// the group.
//
// Version 1 processed four keys at once, and prefetched rows of the next step during this step. Version 2 reads key
// after key, in memory order, without prefetches: hardware prefetchers follow this order, but not four rows at once. On
// a Zen 4 core, twelve heads of 64 features read 33 GB/s from DRAM instead of 19, and 69 from the last-level cache
// instead of 55. If four query heads share a key head, arithmetic is the limit in caches, and four keys at once save a
// tenth; larger KV caches are read key by key as well, from DRAM 1.6 times as fast. Version 3 keeps eight vectors of V
// for one query row on AVX2, so that a row of 64 features is read once and in order: on that core limited to AVX2,
// twelve heads read 77 GB/s (512 keys) instead of 64, and 20 from DRAM instead of 13.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

template <class Arch>
inline constexpr std::size_t decode_keys_at_once = lanes<Arch> >= 8 ? 4 : 2;
/// Query rows that use a row of K while it is in a register.
template <class Arch>
inline constexpr std::size_t decode_rows_at_once = lanes<Arch> >= 16 ? 4 : 2;
/// Vectors of V side by side: the accumulators of `Rows` query rows take half of the registers.
template <class Arch, std::size_t Rows>
inline constexpr std::size_t decode_vectors = (lanes<Arch> >= 16 ? 16 : 8) / Rows < 8 ? 4 : 8;

// scores[r * score_row + i] = q[r] . k[i] for `Rows` rows and `Keys` keys. q is padded with zeros to whole vectors. One
// row takes key after key; with more rows, each query register is combined with all keys.
template <class Arch, std::size_t Rows, std::size_t Keys>
[[gnu::always_inline]] inline void dot_rows(const float* q, std::size_t q_row, const float* k, std::ptrdiff_t k_row,
                                            std::size_t features, float* scores, std::size_t score_row) noexcept {
  // The number of sums as a power of two, at most one vector of them.
  constexpr std::size_t row_slots = Rows == 3 ? 4 : Rows;
  static_assert(row_slots * Keys <= lanes<Arch>);
  floats<Arch> sums[row_slots * Keys];
#pragma GCC unroll 16
  for (floats<Arch>& sum : sums) sum = floats<Arch>(0.0F);
  const auto go_over_features = [&](auto step) __attribute__((always_inline)) {
    std::size_t c = 0;
    for (; c + lanes<Arch> <= features; c += lanes<Arch>) step(c, [](const float* at) { return load<Arch>(at); });
    if (c < features) step(c, [&](const float* at) { return load_partial<Arch>(at, features - c); });
  };
  if constexpr (Rows == 1) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < Keys; ++i, k += k_row) {
      go_over_features([&](std::size_t c, auto load_key) __attribute__((always_inline)) {
        sums[i] = fma<Arch>(load_aligned<Arch>(q + c), load_key(k + c), sums[i]);
      });
    }
  } else {
    go_over_features([&](std::size_t c, auto load_key) __attribute__((always_inline)) {
      floats<Arch> key[Keys];
#pragma GCC unroll 4
      for (std::size_t i = 0; i < Keys; ++i) key[i] = load_key(k + static_cast<std::ptrdiff_t>(i) * k_row + c);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < Rows; ++r) {
        const floats<Arch> query = load_aligned<Arch>(q + r * q_row + c);
#pragma GCC unroll 4
        for (std::size_t i = 0; i < Keys; ++i) sums[r * Keys + i] = fma<Arch>(query, key[i], sums[r * Keys + i]);
      }
    });
  }
  alignas(64) float sum[lanes<Arch>];
  store_aligned<Arch>(&sum[0], sum_rows<Arch>(sums));
#pragma GCC unroll 4
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < Keys; ++i) scores[r * score_row + i] = sum[r * Keys + i];
  }
}

/// scores[r, j] = q[r] . k[j] for `keys` keys; several rows take `AtOnce` keys at once.
template <class Arch, std::size_t Rows, std::size_t AtOnce>
[[gnu::noinline]] void dot_block(const float* q, std::size_t q_row, const float* k, std::ptrdiff_t k_row,
                                 std::size_t features, std::size_t keys, float* scores,
                                 std::size_t score_row) noexcept {
  std::size_t j = 0;
  for (; j + AtOnce <= keys; j += AtOnce) {
    dot_rows<Arch, Rows, AtOnce>(q, q_row, k + static_cast<std::ptrdiff_t>(j) * k_row, k_row, features, scores + j,
                                 score_row);
  }
  for (; j < keys; ++j) {
    dot_rows<Arch, Rows, 1>(q, q_row, k + static_cast<std::ptrdiff_t>(j) * k_row, k_row, features, scores + j,
                            score_row);
  }
}

// out[r] = out[r] * rescale[r] + sum_j weights[r, j] v[j] for `Vectors` whole vectors of features, or a part of one.
template <class Arch, std::size_t Rows, std::size_t Vectors, bool Partial>
[[gnu::always_inline]] inline void add_columns(const float* weights, std::size_t weight_row, const float* v,
                                               std::ptrdiff_t v_row, std::size_t keys, std::size_t features, float* out,
                                               std::size_t out_row, const float* rescale) noexcept {
  floats<Arch> acc[Rows][Vectors];
#pragma GCC unroll 2
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Vectors; ++i) {
      acc[r][i] = load_aligned<Arch>(out + r * out_row + i * lanes<Arch>) * floats<Arch>(rescale[r]);
    }
  }
  for (std::size_t j = 0; j < keys; ++j, v += v_row) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Vectors; ++i) {
      const float* at = v + i * lanes<Arch>;
      const floats<Arch> value = Partial ? load_partial<Arch>(at, features) : load<Arch>(at);
#pragma GCC unroll 2
      for (std::size_t r = 0; r < Rows; ++r) {
        acc[r][i] = fma<Arch>(floats<Arch>(weights[r * weight_row + j]), value, acc[r][i]);
      }
    }
  }
#pragma GCC unroll 2
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Vectors; ++i) { store_aligned<Arch>(out + r * out_row + i * lanes<Arch>, acc[r][i]); }
  }
}

/// out[r] = out[r] * rescale[r] + sum_j weights[r, j] v[j]. Rows of out are padded to whole vectors.
template <class Arch, std::size_t Rows>
[[gnu::noinline]] void add_block(const float* weights, std::size_t weight_row, const float* v, std::ptrdiff_t v_row,
                                 std::size_t keys, std::size_t features, float* out, std::size_t out_row,
                                 const float* rescale) noexcept {
  constexpr std::size_t n = lanes<Arch>;
  constexpr std::size_t many = decode_vectors<Arch, Rows>;
  std::size_t c = 0;
  for (; c + many * n <= features; c += many * n) {
    add_columns<Arch, Rows, many, false>(weights, weight_row, v + c, v_row, keys, n, out + c, out_row, rescale);
  }
  for (; c + 4 * n <= features; c += 4 * n) {
    add_columns<Arch, Rows, 4, false>(weights, weight_row, v + c, v_row, keys, n, out + c, out_row, rescale);
  }
  for (; c + n <= features; c += n) {
    add_columns<Arch, Rows, 1, false>(weights, weight_row, v + c, v_row, keys, n, out + c, out_row, rescale);
  }
  if (c < features) {
    add_columns<Arch, Rows, 1, true>(weights, weight_row, v + c, v_row, keys, features - c, out + c, out_row, rescale);
  }
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
