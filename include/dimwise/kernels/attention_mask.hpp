// dimwise/kernels/attention_mask.hpp -- a block of bias and boolean mask, turned so that lanes are queries.
//
// Layer: kernels. Includes: attention_pack.hpp, attention_types.hpp.
// Tests: tests/kernels/attention.test.cpp
//
// Both become one panel of numbers to add, -inf where a key is hidden. A block in which every pair is hidden is found
// here, before its scores are computed.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention_pack.hpp>
#include <dimwise/kernels/attention_types.hpp>

#include <cstddef>

namespace dimwise::kernels::detail {

// -inf in the lanes of keys that `allow` hides, 0 in the others.
template <class Arch>
[[gnu::always_inline]] inline floats<Arch> hidden_lanes(const bool* allow, std::ptrdiff_t stride,
                                                        std::size_t keys) noexcept {
  constexpr float hidden = -infinity;
  alignas(64) float lane[lanes<Arch>] = {};
  if (stride == 1 && keys == lanes<Arch>) {
    // A constant trip count and stride: this one becomes three vector instructions.
    for (std::size_t c = 0; c < lanes<Arch>; ++c) lane[c] = allow[c] ? 0.0F : hidden;
  } else {
    for (std::size_t c = 0; c < keys; ++c) { lane[c] = allow[static_cast<std::ptrdiff_t>(c) * stride] ? 0.0F : hidden; }
  }
  return load_aligned<Arch>(&lane[0]);
}

template <class Arch>
[[gnu::always_inline]] inline void load_added_square(square<Arch>& corner, const attention_layout& layout,
                                                     const attention_head& head, std::size_t first_query,
                                                     std::size_t queries, std::size_t first_key,
                                                     std::size_t keys) noexcept {
  const floats<Arch> hidden(-infinity);
  const auto i = static_cast<std::ptrdiff_t>(first_query);
  const auto j = static_cast<std::ptrdiff_t>(first_key);
  if (head.bias != nullptr) {
    const float* bias = head.bias + i * layout.bias_query + j * layout.bias_key;
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

/// added[j, i] for `queries` (<= strip_width) queries and `keys` keys. False if every pair is hidden.
template <class Arch>
[[gnu::noinline]] bool pack_added(const attention_layout& layout, const attention_head& head, std::size_t first_query,
                                  std::size_t queries, std::size_t first_key, std::size_t keys, float* added) noexcept {
  constexpr std::size_t n = lanes<Arch>;
  const floats<Arch> hidden(-infinity);
  floats<Arch> seen(0.0F);
  for (std::size_t i = 0; i < queries; i += n) {
    for (std::size_t j = 0; j < keys; j += n) {
      const std::size_t wide = keys - j < n ? keys - j : n;
      square<Arch> corner;
      load_added_square<Arch>(corner, layout, head, first_query + i, queries - i < n ? queries - i : n, first_key + j,
                              wide);
      transpose<Arch>(corner);
      for (std::size_t r = 0; r < wide; ++r) {
        seen = select<Arch>(corner[r] == hidden, seen, floats<Arch>(1.0F));
        store_aligned<Arch>(added + (j + r) * strip_width<Arch> + i, corner[r]);
      }
    }
  }
  return reduce_sum<Arch>(seen) > 0.0F;
}

}  // namespace dimwise::kernels::detail
