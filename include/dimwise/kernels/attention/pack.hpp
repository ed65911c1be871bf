// dimwise/kernels/attention/pack.hpp -- packing of rows in memory into transposed strips, and back.
//
// Layer: kernels. Includes: attention/tile.hpp.
// Tests: tests/kernels/attention/forward.test.cpp
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/tile.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

/// A strided matrix: element (i, c) is at data[i * row + c * feature].
template <class Element>
struct matrix_view {
  Element* data;
  std::ptrdiff_t row;
  std::ptrdiff_t feature;

  [[nodiscard, gnu::always_inline]] Element* at(std::size_t i, std::size_t c = 0) const noexcept {
    return data + static_cast<std::ptrdiff_t>(i) * row + static_cast<std::ptrdiff_t>(c) * feature;
  }
};

template <class Arch>
using square = floats<Arch>[lanes<Arch>];

// Loads rows [0, rows) and features [0, features) of a corner of at most a register, padded with zeros.
template <class Arch>
[[gnu::always_inline]] inline void load_square(square<Arch>& to, const matrix_view<const element_of<Arch>>& from,
                                               std::size_t rows, std::size_t features) noexcept {
  if (from.feature == 1 && features == lanes<Arch> && rows == lanes<Arch>) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < lanes<Arch>; ++i) to[i] = load<Arch>(from.at(i));
    return;
  }
  for (std::size_t i = 0; i < lanes<Arch>; ++i) {
    if (i >= rows) {
      to[i] = floats<Arch>(0.0F);
    } else if (from.feature == 1) {
      to[i] = load_partial<Arch>(from.at(i), features);
    } else {
      alignas(64) element_of<Arch> gathered[lanes<Arch>] = {};
      for (std::size_t c = 0; c < features; ++c) gathered[c] = *from.at(i, c);
      to[i] = load_aligned<Arch>(&gathered[0]);
    }
  }
}

template <class Arch>
[[gnu::always_inline]] inline void store_square(const square<Arch>& from, const matrix_view<element_of<Arch>>& to,
                                                std::size_t rows, std::size_t features) noexcept {
  if (to.feature == 1 && features == lanes<Arch> && rows == lanes<Arch>) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < lanes<Arch>; ++i) store<Arch>(to.at(i), from[i]);
    return;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    if (to.feature == 1) {
      store_partial<Arch>(to.at(i), features, from[i]);
    } else {
      alignas(64) element_of<Arch> scattered[lanes<Arch>];
      store_aligned<Arch>(&scattered[0], from[i]);
      for (std::size_t c = 0; c < features; ++c) *to.at(i, c) = scattered[c];
    }
  }
}

/// strip[c, i] = factor * from[i, c] for the first `rows` queries; lanes past the last repeat it, so that a score
/// function receives only existing scores.
template <class Arch>
[[gnu::noinline]] void pack_strip(const matrix_view<const element_of<Arch>>& from, std::size_t rows,
                                  std::size_t features, element_of<Arch> factor, element_of<Arch>* strip) noexcept {
  constexpr std::size_t n = lanes<Arch>;
  for (std::size_t i = 0; i < rows; i += n) {
    for (std::size_t c = 0; c < features; c += n) {
      const std::size_t wide = features - c < n ? features - c : n;
      square<Arch> corner;
      load_square<Arch>(corner, {from.at(i, c), from.row, from.feature}, rows - i < n ? rows - i : n, wide);
      for (std::size_t r = rows - i; r < n; ++r) corner[r] = corner[rows - i - 1];
      transpose<Arch>(corner);
      for (std::size_t r = 0; r < wide; ++r) {
        store_aligned<Arch>(strip + (c + r) * strip_width<Arch> + i, corner[r] * floats<Arch>(factor));
      }
    }
  }
}

/// to[i, c] = strip[c, i] * factor[i] for the first `rows` queries.
template <class Arch>
[[gnu::noinline]] void unpack_strip(const element_of<Arch>* strip, const element_of<Arch>* factor, std::size_t rows,
                                    std::size_t features, const matrix_view<element_of<Arch>>& to) noexcept {
  constexpr std::size_t n = lanes<Arch>;
  for (std::size_t i = 0; i < rows; i += n) {
    const floats<Arch> by = load_aligned<Arch>(factor + i);
    for (std::size_t c = 0; c < features; c += n) {
      const std::size_t wide = features - c < n ? features - c : n;
      square<Arch> corner;
      for (std::size_t r = 0; r < n; ++r) {
        corner[r] = r < wide ? by * load_aligned<Arch>(strip + (c + r) * strip_width<Arch> + i) : floats<Arch>(0.0F);
      }
      transpose<Arch>(corner);
      store_square<Arch>(corner, {to.at(i, c), to.row, to.feature}, rows - i < n ? rows - i : n, wide);
    }
  }
}

/// Rows are read in place if they are nearly contiguous, or used once; otherwise they are copied.
template <class Arch>
[[nodiscard]] bool reads_in_place(const matrix_view<const element_of<Arch>>& rows, std::size_t features,
                                  bool shared) noexcept {
  const bool near = rows.row >= 0 && rows.row < static_cast<std::ptrdiff_t>(2 * features);
  return rows.feature == 1 && (near || !shared);
}

/// A contiguous copy of rows. Rows of interleaved heads are kilobytes apart and map to few cache sets: reading them in
/// place costs 20 % of the speed on some machines.
template <class Arch>
[[gnu::noinline]] void copy_rows(const matrix_view<const element_of<Arch>>& from, std::size_t rows,
                                 std::size_t features, element_of<Arch>* to) noexcept {
  for (std::size_t i = 0; i < rows; ++i, to += features) {
    std::size_t c = 0;
    if (from.feature == 1) {
      for (; c + lanes<Arch> <= features; c += lanes<Arch>) store<Arch>(to + c, load<Arch>(from.at(i, c)));
    }
    for (; c < features; ++c) to[c] = *from.at(i, c);
  }
}

/// Whether all elements are finite.
template <class Arch>
[[gnu::noinline]] bool all_finite(const element_of<Arch>* from, std::ptrdiff_t row, std::size_t rows,
                                  std::size_t features) noexcept {
  // x * 0 is NaN for infinities and NaN, and a sum keeps NaN. Four rows at a time hide the latency of the additions;
  // rows past the last repeat it.
  floats<Arch> zeros[4] = {floats<Arch>(0.0F), floats<Arch>(0.0F), floats<Arch>(0.0F), floats<Arch>(0.0F)};
  for (std::size_t i = 0; i < rows; i += 4) {
    for (std::size_t c = 0; c < features; c += lanes<Arch>) {
      const std::size_t left = features - c;
#pragma GCC unroll 4
      for (std::size_t r = 0; r < 4; ++r) {
        const std::size_t line = i + r < rows ? i + r : rows - 1;
        const element_of<Arch>* at = from + static_cast<std::ptrdiff_t>(line) * row + c;
        const floats<Arch> x = left >= lanes<Arch> ? load<Arch>(at) : load_partial<Arch>(at, left);
        zeros[r] = fma<Arch>(x, floats<Arch>(0.0F), zeros[r]);
      }
    }
  }
  return reduce_sum<Arch>((zeros[0] + zeros[1]) + (zeros[2] + zeros[3])) == 0.0F;
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
