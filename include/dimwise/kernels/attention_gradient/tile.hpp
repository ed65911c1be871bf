// dimwise/kernels/attention_gradient/tile.hpp -- the register tile that adds rows of queries to the gradients of keys.
//
// Layer: kernels. Includes: attention/tile.hpp.
// Tests: tests/kernels/attention_gradient/backward.test.cpp
//
// Four of the five products of the backward pass read weights that are stored transposed, one lane per query; two of
// them use the tiles of the forward pass. The gradients of keys and values take weights as broadcasts and rows of
// queries as vectors, so that no block of weights is transposed.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/tile.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

/// The visible queries of one strip for some keys: lanes [begin, end).
struct lane_range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The weights of a panel, [strip][key, strip_width], and its visible lanes.
template <class Arch>
struct weight_panel {
  const element_of<Arch>* data;
  std::size_t strip_step;
  const lane_range* ranges;
  std::size_t strips;
};

/// Rows of queries with contiguous, aligned features.
template <class Arch>
struct row_panel {
  const element_of<Arch>* data;
  std::ptrdiff_t row;
};

/// to[Rows, Vectors] += sum over the queries i of weights[Rows, i] * x[i, Vectors].
template <class Arch, std::size_t Rows, std::size_t Vectors>
[[gnu::noinline]] void sum_rows_tile(const weight_panel<Arch>& weights, const row_panel<Arch>& x, element_of<Arch>* to,
                                     std::ptrdiff_t to_row) noexcept {
  floats<Arch> acc[Rows][Vectors];
#pragma GCC unroll 6
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < Vectors; ++v) {
      acc[r][v] = load_aligned<Arch>(to + static_cast<std::ptrdiff_t>(r) * to_row + v * lanes<Arch>);
    }
  }
  constexpr auto stride = static_cast<std::ptrdiff_t>(strip_width<Arch>);
  for (std::size_t s = 0; s < weights.strips; ++s) {
    const lane_range range = weights.ranges[s];
    const element_of<Arch>* weight = weights.data + s * weights.strip_step + range.begin;
    const element_of<Arch>* row = x.data + static_cast<std::ptrdiff_t>(s * strip_width<Arch> + range.begin) * x.row;
    for (std::size_t i = range.begin; i < range.end; ++i, ++weight, row += x.row) {
      multiply_add<Arch, float_lanes<Arch>, Rows, Vectors>(acc, weight, stride, row);
    }
  }
#pragma GCC unroll 6
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < Vectors; ++v) {
      store_aligned<Arch>(to + static_cast<std::ptrdiff_t>(r) * to_row + v * lanes<Arch>, acc[r][v]);
    }
  }
}

template <class Arch, std::size_t Rows, std::size_t Vectors = tile_vectors<Arch>>
[[gnu::always_inline]] inline void sum_vectors(std::size_t vectors, const weight_panel<Arch>& weights,
                                               const row_panel<Arch>& x, element_of<Arch>* to,
                                               std::ptrdiff_t to_row) noexcept {
  if constexpr (Vectors > 1) {
    if (vectors < Vectors) return sum_vectors<Arch, Rows, Vectors - 1>(vectors, weights, x, to, to_row);
  }
  sum_rows_tile<Arch, Rows, Vectors>(weights, x, to, to_row);
}

/// sum_rows_tile for `rows` keys, a result of `tile_step`, and whole registers of `features`.
template <class Arch>
[[gnu::always_inline]] inline void add_row_sums(std::size_t rows, std::size_t features,
                                                const weight_panel<Arch>& weights, const row_panel<Arch>& x,
                                                element_of<Arch>* to, std::ptrdiff_t to_row) noexcept {
  for (std::size_t c = 0; c < features; c += tile_vectors<Arch> * lanes<Arch>) {
    const std::size_t left = (features - c) / lanes<Arch>;
    const std::size_t vectors = left < tile_vectors<Arch> ? left : tile_vectors<Arch>;
    const row_panel<Arch> part{x.data + c, x.row};
    if (rows == tile_rows<Arch>) sum_vectors<Arch, tile_rows<Arch>>(vectors, weights, part, to + c, to_row);
    else if (rows == 4) sum_vectors<Arch, 4>(vectors, weights, part, to + c, to_row);
    else sum_vectors<Arch, 1>(vectors, weights, part, to + c, to_row);
  }
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
