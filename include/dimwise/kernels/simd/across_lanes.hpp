// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/simd/across_lanes.hpp -- reductions of a register, sums of several registers, and transposes.
//
// Layer: kernels. Lanes are added in the order of a balanced tree, the same on every compiler.
// Tests: tests/kernels/simd.test.cpp
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/simd/lanewise.hpp>

#include <cstddef>
#include <utility>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail {

/// The raw register type, which the compilers' shuffles take.
template <class Arch>
using raw_floats = typename floats<Arch>::register_type;

// Both compilers turn these index lists into optimal permutes; xsimd 8.1 only has zip_lo and zip_hi, which work inside
// 128-bit lanes on AVX-512 but across the register elsewhere.
template <class Arch, std::size_t... Index>
[[nodiscard, gnu::always_inline]] inline floats<Arch> shuffle(const floats<Arch>& a, const floats<Arch>& b,
                                                              std::index_sequence<Index...>) noexcept {
#if defined(__GNUC__)
  return floats<Arch>(
      static_cast<raw_floats<Arch>>(__builtin_shufflevector(a.data, b.data, static_cast<int>(Index)...)));
#else
  alignas(64) element_of<Arch> from[2 * lanes<Arch>];
  alignas(64) element_of<Arch> to[lanes<Arch>] = {};
  a.store_aligned(&from[0]);
  b.store_aligned(&from[lanes<Arch>]);
  std::size_t at = 0;
  ((to[at++] = from[Index]), ...);
  return floats<Arch>::load_aligned(&to[0]);
#endif
}

// Lane i takes lane i ^ Distance.
template <class Arch, std::size_t Distance, std::size_t... Lane>
[[nodiscard, gnu::always_inline]] inline floats<Arch> swap_lanes(const floats<Arch>& a,
                                                                 std::index_sequence<Lane...>) noexcept {
  return shuffle<Arch>(a, a, std::index_sequence<(Lane ^ Distance)...>{});
}

template <class Arch, std::size_t Distance = lanes<Arch> / 2, class Combine>
[[nodiscard, gnu::always_inline]] inline floats<Arch> fold(const floats<Arch>& a, Combine combine) noexcept {
  const floats<Arch> once = combine(a, swap_lanes<Arch, Distance>(a, std::make_index_sequence<lanes<Arch>>{}));
  if constexpr (Distance > 1) return fold<Arch, Distance / 2>(once, combine);
  else return once;
}

}  // namespace detail

/// The sum of all lanes, as a balanced tree with the same order on every compiler.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline element_of<Arch> reduce_sum(const floats<Arch>& value) noexcept {
  return detail::fold<Arch>(value, [](const auto& a, const auto& b) { return a + b; }).get(0);
}

/// The maximum of the lanes; NaN if any lane is NaN.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline element_of<Arch> reduce_max(const floats<Arch>& value) noexcept {
  return detail::fold<Arch>(value, [](const auto& a, const auto& b) { return max_or_nan<Arch>(a, b); }).get(0);
}

/// The maximum of the lanes, ignoring NaN; -inf if every lane is NaN.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline element_of<Arch> reduce_max_skip_nan(const floats<Arch>& value) noexcept {
  const floats<Arch> number = max_skip_nan<Arch>(value, broadcast<Arch>(-detail::infinity));
  return detail::fold<Arch>(number, [](const auto& a, const auto& b) { return max_skip_nan<Arch>(a, b); }).get(0);
}

namespace detail {

// One butterfly of the transpose: rows a and a + Distance exchange their off-diagonal blocks of Distance lanes.
template <class Arch, std::size_t Distance, std::size_t... Lane>
[[gnu::always_inline]] inline void transpose_pair(floats<Arch>& a, floats<Arch>& b,
                                                  std::index_sequence<Lane...>) noexcept {
  constexpr std::size_t n = lanes<Arch>;
  const floats<Arch> low =
      shuffle<Arch>(a, b, std::index_sequence<((Lane & Distance) != 0 ? n + (Lane ^ Distance) : Lane)...>{});
  b = shuffle<Arch>(a, b, std::index_sequence<((Lane & Distance) != 0 ? n + Lane : (Lane ^ Distance))...>{});
  a = low;
}

template <class Arch, std::size_t Distance>
[[gnu::always_inline]] inline void transpose_step(floats<Arch>* rows) noexcept {
  for (std::size_t i = 0; i < lanes<Arch>; ++i) {
    if ((i & Distance) == 0) {
      transpose_pair<Arch, Distance>(rows[i], rows[i + Distance], std::make_index_sequence<lanes<Arch>>{});
    }
  }
  if constexpr (Distance > 1) transpose_step<Arch, Distance / 2>(rows);
}

// Sums of `Count` vectors (a power of two), by the same butterflies with an addition after each.
template <class Arch, std::size_t Count, std::size_t Distance>
[[gnu::always_inline]] inline void sum_step(floats<Arch>* rows) noexcept {
  using all = std::make_index_sequence<lanes<Arch>>;
#pragma GCC unroll 16
  for (std::size_t i = 0; i < (Count > Distance ? Distance : Count); ++i) {
    if constexpr (Count > Distance) {
      transpose_pair<Arch, Distance>(rows[i], rows[i + Distance], all{});
      rows[i] = rows[i] + rows[i + Distance];
    } else {
      rows[i] = rows[i] + swap_lanes<Arch, Distance>(rows[i], all{});
    }
  }
  if constexpr (Distance > 1) sum_step<Arch, (Count > Distance ? Distance : Count), Distance / 2>(rows);
}

}  // namespace detail

/// The sum over the lanes of each of `Count` vectors: lane i has the sum of rows[i % Count]. `Count` is a power of two,
/// at most the number of lanes. Overwrites `rows`.
template <class Arch, std::size_t Count>
[[nodiscard, gnu::always_inline]] inline floats<Arch> sum_rows(floats<Arch> (&rows)[Count]) noexcept {
  static_assert(Count <= lanes<Arch> && (Count & (Count - 1)) == 0);
  detail::sum_step<Arch, Count, lanes<Arch> / 2>(&rows[0]);
  return rows[0];
}

/// Transposes the square of `lanes` rows in place: lane j of row i becomes lane i of row j, across the whole register.
template <class Arch>
[[gnu::always_inline]] inline void transpose(floats<Arch> (&rows)[lanes<Arch>]) noexcept {
  detail::transpose_step<Arch, lanes<Arch> / 2>(&rows[0]);
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
