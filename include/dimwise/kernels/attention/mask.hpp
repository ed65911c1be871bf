// dimwise/kernels/attention/mask.hpp -- packing of a block of bias and boolean mask with queries as lanes.
//
// Layer: kernels. Includes: attention/pack.hpp, attention/softmax.hpp, attention/types.hpp.
// Tests: tests/kernels/attention/forward.test.cpp
//
// Both become numbers to add, -inf for hidden keys: a panel, or one number per key if all queries share them. Detects
// fully hidden blocks before their scores are computed.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/pack.hpp>
#include <dimwise/kernels/attention/softmax.hpp>
#include <dimwise/kernels/attention/types.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

// -inf in the lanes of keys that `allow` hides, 0 in the others.
template <class Arch>
[[gnu::always_inline]] inline floats<Arch> hidden_lanes(const bool* allow, std::ptrdiff_t stride,
                                                        std::size_t keys) noexcept {
  constexpr element_of<Arch> hidden = -infinity;
  alignas(64) element_of<Arch> lane[lanes<Arch>] = {};
  if (stride == 1 && keys == lanes<Arch>) {
    // A constant trip count and stride: the loop becomes three vector instructions.
    for (std::size_t c = 0; c < lanes<Arch>; ++c) lane[c] = allow[c] ? 0.0F : hidden;
  } else {
    for (std::size_t c = 0; c < keys; ++c) { lane[c] = allow[static_cast<std::ptrdiff_t>(c) * stride] ? 0.0F : hidden; }
  }
  return load_aligned<Arch>(&lane[0]);
}

template <class Arch>
[[gnu::always_inline]] inline void load_added_square(square<Arch>& corner, const layout_for<Arch>& layout,
                                                     const head_for<Arch>& head, std::size_t first_query,
                                                     std::size_t queries, std::size_t first_key,
                                                     std::size_t keys) noexcept {
  const floats<Arch> hidden(-infinity);
  const auto i = static_cast<std::ptrdiff_t>(first_query);
  const auto j = static_cast<std::ptrdiff_t>(first_key);
  if (head.bias != nullptr) {
    const element_of<Arch>* bias = head.bias + i * layout.bias_query + j * layout.bias_key;
    load_square<Arch>(corner, {bias, layout.bias_query, layout.bias_key}, queries, keys);
  } else {
    for (floats<Arch>& row : corner) row = floats<Arch>(0.0F);
  }
  if (head.allow != nullptr) {
    const bool* allow = head.allow + i * layout.allow_query + j * layout.allow_key;
    for (std::size_t r = 0; r < queries; ++r, allow += layout.allow_query) {
      const floats<Arch> lane = hidden_lanes<Arch>(allow, layout.allow_key, keys);
      corner[r] = select<Arch>(lane == hidden, hidden, corner[r]);  // not a sum: a hidden bias may be NaN
    }
  }
  for (std::size_t r = queries; r < lanes<Arch>; ++r) corner[r] = hidden;
}

// Whether pairs of a block are visible.
enum class visible { none, some, all };

// Writes a transposed corner to the panel; keeps the minimum of each lane, ignoring NaN.
template <class Arch>
[[gnu::always_inline]] inline void store_turned(square<Arch>& corner, std::size_t keys, element_of<Arch>* to,
                                                floats<Arch>& smallest) noexcept {
  transpose<Arch>(corner);
#pragma GCC unroll 16
  for (std::size_t r = 0; r < lanes<Arch>; ++r) {
    if (r == keys) break;
    smallest = min_skip_nan<Arch>(corner[r], smallest);
    store_aligned<Arch>(to + r * strip_width<Arch>, corner[r]);
  }
}

/// added[j, i] for `queries` (<= strip_width) queries and `keys` keys.
template <class Arch>
[[gnu::noinline]] visible pack_added_pairs(const layout_for<Arch>& layout, const head_for<Arch>& head,
                                           std::size_t first_query, std::size_t queries, std::size_t first_key,
                                           std::size_t keys, element_of<Arch>* added) noexcept {
  constexpr std::size_t n = lanes<Arch>;
  floats<Arch> smallest(infinity);
  for (std::size_t i = 0; i < queries; i += n) {
    const std::size_t high = queries - i < n ? queries - i : n;
    for (std::size_t j = 0; j < keys; j += n) {
      const std::size_t wide = keys - j < n ? keys - j : n;
      element_of<Arch>* const to = added + j * strip_width<Arch> + i;
      square<Arch> corner;
      if (high == n && wide == n && head.allow == nullptr && layout.bias_key == 1) {  // in registers throughout
        const element_of<Arch>* from = head.bias + static_cast<std::ptrdiff_t>(first_query + i) * layout.bias_query +
                                       static_cast<std::ptrdiff_t>(first_key + j);
#pragma GCC unroll 16
        for (std::size_t r = 0; r < n; ++r, from += layout.bias_query) corner[r] = load<Arch>(from);
        store_turned<Arch>(corner, n, to, smallest);
        continue;
      }
      load_added_square<Arch>(corner, layout, head, first_query + i, high, first_key + j, wide);
      store_turned<Arch>(corner, wide, to, smallest);
    }
  }
  if (reduce_max<Arch>(floats<Arch>(0.0F) - smallest) != infinity) return visible::all;
  const floats<Arch> hidden(-infinity);
  for (std::size_t i = 0; i < queries; i += n) {
    for (std::size_t j = 0; j < keys; ++j) {
      if (!xsimd::all(load_aligned<Arch>(added + j * strip_width<Arch> + i) == hidden)) return visible::some;
    }
  }
  return visible::none;
}

/// added[j] for `keys` keys that all queries share. Arch distinguishes the symbols of different architectures.
template <class Arch>
[[nodiscard, gnu::noinline]] visible pack_added_keys(const layout_for<Arch>& layout, const head_for<Arch>& head,
                                                     std::size_t first_key, std::size_t keys,
                                                     element_of<Arch>* added) noexcept {
  std::size_t hidden = 0;
  for (std::size_t j = 0; j < keys; ++j) {
    const auto key = static_cast<std::ptrdiff_t>(first_key + j);
    const bool allowed = head.allow == nullptr || head.allow[key * layout.allow_key];
    const element_of<Arch> bias = head.bias == nullptr ? 0 : head.bias[key * layout.bias_key];
    added[j] = allowed ? bias : -infinity;
    hidden += added[j] == -infinity ? 1U : 0U;
  }
  return hidden == keys ? visible::none : hidden == 0 ? visible::all : visible::some;
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
