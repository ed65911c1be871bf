// dimwise/kernels/attention/tile.hpp -- the two register tiles of attention: scores = K q, and out += V weights.
//
// Layer: kernels. Includes: simd.hpp.
// Tests: tests/kernels/attention/forward.test.cpp
//
// Scores are stored transposed: a lane is a query, a row is a key. The maximum and sum of a softmax are then computed
// down the rows, lane by lane, without reductions across a register. A *strip* is the queries of one tile width; q,
// scores and out of a strip are [rows, strip_width] panels, so every vector load is aligned and contiguous, and each
// element of K and V is broadcast once.
//
// History: 1. scalar loops; 2. lanes are keys: reductions across registers, 55 % of peak; 3. lanes are queries: this
// file; 4. the running maximum moved into the epilogue of the first tile and the rescaling of `out` into the loads of
// the second.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

// Accumulators, one row of vectors and one broadcast must fit the registers: 32 on AVX-512 and NEON, 16 elsewhere.
template <class Arch>
inline constexpr bool has_32_registers = is_avx512<Arch> || is_neon64<Arch>;
template <class Arch>
inline constexpr std::size_t tile_rows = has_32_registers<Arch> || has_fma<Arch> ? 6 : 4;
template <class Arch>
inline constexpr std::size_t tile_vectors = has_32_registers<Arch> ? 4
                                            : has_fma<Arch>        ? 2
                                                                   : 3;
/// The number of queries in one tile.
template <class Arch>
inline constexpr std::size_t strip_width = tile_vectors<Arch> * lanes<Arch>;

/// The keys [begin, end) of a block that each vector of a strip can see; neither bound decreases from vector to vector.
template <class Arch>
struct keys_per_vector {
  std::size_t begin[tile_vectors<Arch>];
  std::size_t end[tile_vectors<Arch>];
};

/// Numbers to add to the scores of a strip and a block, -inf for hidden keys.
template <class Arch>
struct added_scores {
  const element_of<Arch>* data = nullptr;  ///< null: adds nothing
  bool each_query = false;                 ///< [keys, strip_width]; otherwise one number per key
  bool hides = false;                      ///< some are -inf
  element_of<Arch> scale = 1;              ///< the scale of the scores that is not folded into q

  /// The part of the numbers for the keys and queries from here on.
  [[nodiscard]] added_scores at(std::size_t key, std::size_t lane) const noexcept {
    added_scores part = *this;
    if (data != nullptr) part.data += each_query ? key * strip_width<Arch> + lane : key;
    return part;
  }
};

/// The content of a lane and the register multiply-add: one element. attention/bfloat16.hpp has another.
template <class Arch>
struct float_lanes {
  static constexpr bool scale_in_queries = true;
  [[nodiscard, gnu::always_inline]] static floats<Arch> multiply_add(const floats<Arch>& a, const floats<Arch>& b,
                                                                     const floats<Arch>& c) noexcept {
    return fma<Arch>(a, b, c);
  }
};

// acc[r][v] (+)= a[r] * b[v] for the vectors from First on.
template <class Arch, class Lanes, std::size_t Rows, std::size_t Vectors, std::size_t First = 0>
[[gnu::always_inline]] inline void multiply_add(floats<Arch> (&acc)[Rows][Vectors], const element_of<Arch>* column,
                                                std::ptrdiff_t column_stride, const element_of<Arch>* row) noexcept {
  floats<Arch> b[Vectors];
#pragma GCC unroll 4
  for (std::size_t v = First; v < Vectors; ++v) b[v] = load_aligned<Arch>(row + v * lanes<Arch>);
#pragma GCC unroll 6
  for (std::size_t r = 0; r < Rows; ++r) {
    const floats<Arch> a(column[static_cast<std::ptrdiff_t>(r) * column_stride]);
#pragma GCC unroll 4
    for (std::size_t v = First; v < Vectors; ++v) acc[r][v] = Lanes::multiply_add(a, b[v], acc[r][v]);
  }
}

/// scores[Rows, Vectors] = k[Rows, features] * q[features, Vectors] + added; raises `maximum`.
///
/// If lanes hold several features, `features` counts lanes.
///
/// noinline: inside a larger function g++ and clang spill accumulators, which costs a third of the speed.
template <class Arch, class Lanes, std::size_t Rows, std::size_t Vectors>
[[gnu::noinline]] void score_tile(const element_of<Arch>* q, const element_of<Arch>* k, std::ptrdiff_t k_row,
                                  std::size_t features, element_of<Arch>* scores, element_of<Arch>* maximum,
                                  const added_scores<Arch>& added) noexcept {
  floats<Arch> acc[Rows][Vectors];
#pragma GCC unroll 6
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < Vectors; ++v) acc[r][v] = floats<Arch>(0.0F);
  }
  for (std::size_t c = 0; c < features; ++c) {
    multiply_add<Arch, Lanes, Rows, Vectors>(acc, k + c, k_row, q + c * strip_width<Arch>);
  }
  if constexpr (!Lanes::scale_in_queries) {
    const floats<Arch> scale(added.scale);
    if (added.scale != 1) {
#pragma GCC unroll 6
      for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < Vectors; ++v) acc[r][v] = acc[r][v] * scale;
      }
    }
  }
  if (added.data != nullptr) {
#pragma GCC unroll 6
    for (std::size_t r = 0; r < Rows; ++r) {
      const floats<Arch> of_key(added.data[r * (added.each_query ? strip_width<Arch> : 1)]);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < Vectors; ++v) {
        acc[r][v] =
            acc[r][v] +
            (added.each_query ? load_aligned<Arch>(added.data + r * strip_width<Arch> + v * lanes<Arch>) : of_key);
      }
    }
  }
#pragma GCC unroll 6
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < Vectors; ++v) {
      store_aligned<Arch>(scores + r * strip_width<Arch> + v * lanes<Arch>, acc[r][v]);
    }
  }
#pragma GCC unroll 4
  for (std::size_t v = 0; v < Vectors; ++v) {
    floats<Arch> top = load_aligned<Arch>(maximum + v * lanes<Arch>);
#pragma GCC unroll 6
    for (std::size_t r = 0; r < Rows; ++r) top = max_skip_nan<Arch>(acc[r][v], top);
    store_aligned<Arch>(maximum + v * lanes<Arch>, top);
  }
}

template <class Arch, class Lanes, std::size_t Rows, std::size_t Vectors, std::size_t First>
[[gnu::always_inline]] inline void add_weighted_keys(floats<Arch> (&acc)[Rows][Vectors],
                                                     const element_of<Arch>* weights, const element_of<Arch>* v,
                                                     std::ptrdiff_t v_row, std::size_t from,
                                                     const keys_per_vector<Arch>& keys) noexcept {
  const element_of<Arch>* value = v + static_cast<std::ptrdiff_t>(from) * v_row;
  for (std::size_t j = from; j < keys.end[First]; ++j, value += v_row) {
    multiply_add<Arch, Lanes, Rows, Vectors, First>(acc, value, 1, weights + j * strip_width<Arch>);
  }
  if constexpr (First + 1 < Vectors) {
    const std::size_t next = from > keys.end[First] ? from : keys.end[First];
    add_weighted_keys<Arch, Lanes, Rows, Vectors, First + 1>(acc, weights, v, v_row, next, keys);
  }
}

/// out[Rows, Vectors] = out * rescale + v[keys, Rows]^T * weights[keys, Vectors]; without `rescale` out starts at 0.
///
/// Vector i takes the keys before `keys.end[i]`: under a causal mask its other weights are 0 and not written. All
/// vectors begin at key 0. If lanes hold several keys, `keys` counts lanes.
template <class Arch, class Lanes, std::size_t Rows, std::size_t Vectors>
[[gnu::noinline]] void value_tile(const element_of<Arch>* weights, const element_of<Arch>* v, std::ptrdiff_t v_row,
                                  const keys_per_vector<Arch>& keys, element_of<Arch>* out,
                                  const element_of<Arch>* rescale) noexcept {
  floats<Arch> acc[Rows][Vectors];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < Vectors; ++i) {
    if (rescale == nullptr) {
#pragma GCC unroll 6
      for (std::size_t r = 0; r < Rows; ++r) acc[r][i] = floats<Arch>(0.0F);
    } else {
      const floats<Arch> factor = load_aligned<Arch>(rescale + i * lanes<Arch>);
#pragma GCC unroll 6
      for (std::size_t r = 0; r < Rows; ++r) {
        acc[r][i] = factor * load_aligned<Arch>(out + r * strip_width<Arch> + i * lanes<Arch>);
      }
    }
  }
  add_weighted_keys<Arch, Lanes, Rows, Vectors, 0>(acc, weights, v, v_row, 0, keys);
#pragma GCC unroll 6
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < Vectors; ++i) {
      store_aligned<Arch>(out + r * strip_width<Arch> + i * lanes<Arch>, acc[r][i]);
    }
  }
}

// Tiles have tile_rows, 4 or 1 rows: any count is a sum of these, and fewer tiles mean less to compile. A tile of one
// row waits for its own sums, unless it has four vectors: on AVX2 8 rows are 4 + 4, not 6 + 1 + 1.
template <class Arch>
[[nodiscard, gnu::always_inline]] constexpr std::size_t tile_step(std::size_t left) noexcept {
  if (tile_rows<Arch> == 6 && !has_32_registers<Arch> && (left == 8 || left == 9)) return 4;
  return left >= tile_rows<Arch> ? tile_rows<Arch> : left >= 4 ? 4 : 1;
}

template <class Arch, class Lanes, std::size_t Rows, std::size_t Vectors = tile_vectors<Arch>>
[[gnu::always_inline]] inline void score_vectors(std::size_t vectors, const element_of<Arch>* q,
                                                 const element_of<Arch>* k, std::ptrdiff_t k_row, std::size_t features,
                                                 element_of<Arch>* scores, element_of<Arch>* maximum,
                                                 const added_scores<Arch>& added) noexcept {
  if constexpr (Vectors > 1) {
    if (vectors < Vectors) {
      return score_vectors<Arch, Lanes, Rows, Vectors - 1>(vectors, q, k, k_row, features, scores, maximum, added);
    }
  }
  score_tile<Arch, Lanes, Rows, Vectors>(q, k, k_row, features, scores, maximum, added);
}

/// score_tile for run-time numbers of rows and vectors; `rows` is a result of `tile_step`.
template <class Arch, class Lanes = float_lanes<Arch>>
[[gnu::always_inline]] inline void score_rows(std::size_t rows, std::size_t vectors, const element_of<Arch>* q,
                                              const element_of<Arch>* k, std::ptrdiff_t k_row, std::size_t features,
                                              element_of<Arch>* scores, element_of<Arch>* maximum,
                                              const added_scores<Arch>& added) noexcept {
  if (rows == tile_rows<Arch>)
    return score_vectors<Arch, Lanes, tile_rows<Arch>>(vectors, q, k, k_row, features, scores, maximum, added);
  if (rows == 4) return score_vectors<Arch, Lanes, 4>(vectors, q, k, k_row, features, scores, maximum, added);
  score_vectors<Arch, Lanes, 1>(vectors, q, k, k_row, features, scores, maximum, added);
}

template <class Arch, class Lanes, std::size_t Rows, std::size_t Vectors = tile_vectors<Arch>>
[[gnu::always_inline]] inline void value_vectors(std::size_t vectors, const element_of<Arch>* weights,
                                                 const element_of<Arch>* v, std::ptrdiff_t v_row,
                                                 const keys_per_vector<Arch>& keys, element_of<Arch>* out,
                                                 const element_of<Arch>* rescale) noexcept {
  if constexpr (Vectors > 1) {
    if (vectors < Vectors) {
      return value_vectors<Arch, Lanes, Rows, Vectors - 1>(vectors, weights, v, v_row, keys, out, rescale);
    }
  }
  value_tile<Arch, Lanes, Rows, Vectors>(weights, v, v_row, keys, out, rescale);
}

/// value_tile for run-time numbers of rows and vectors; `rows` is a result of `tile_step`.
template <class Arch, class Lanes = float_lanes<Arch>>
[[gnu::always_inline]] inline void value_rows(std::size_t rows, std::size_t vectors, const element_of<Arch>* weights,
                                              const element_of<Arch>* v, std::ptrdiff_t v_row,
                                              const keys_per_vector<Arch>& keys, element_of<Arch>* out,
                                              const element_of<Arch>* rescale) noexcept {
  if (rows == tile_rows<Arch>)
    return value_vectors<Arch, Lanes, tile_rows<Arch>>(vectors, weights, v, v_row, keys, out, rescale);
  if (rows == 4) return value_vectors<Arch, Lanes, 4>(vectors, weights, v, v_row, keys, out, rescale);
  value_vectors<Arch, Lanes, 1>(vectors, weights, v, v_row, keys, out, rescale);
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
