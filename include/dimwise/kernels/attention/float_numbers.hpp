// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/attention/float_numbers.hpp -- the number format of attention whose products are those of floats.
//
// Layer: kernels. Floats are used in place, one per lane. attention/bfloat16.hpp has the same functions for a packed
// format.
// Tests: tests/kernels/attention/forward.test.cpp
#pragma once

#include <dimwise/kernels/attention/pack.hpp>
#include <dimwise/kernels/attention/softmax.hpp>
#include <dimwise/kernels/attention/tile.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

template <class Arch>
struct float_numbers {
  using lanes_type = float_lanes<Arch>;
  static constexpr std::size_t in_lane = 1;

  [[nodiscard, gnu::always_inline]] static element_of<Arch> scale_of_queries(element_of<Arch> scale) noexcept {
    return scale;
  }

  [[gnu::always_inline]] static void pack_strip(const matrix_view<const element_of<Arch>>& from, std::size_t rows,
                                                std::size_t features, element_of<Arch> scale,
                                                element_of<Arch>* to) noexcept {
    detail::pack_strip<Arch>(from, rows, features, scale, to);
  }

  [[nodiscard, gnu::always_inline]] static bool all_finite(const element_of<Arch>* from, std::ptrdiff_t row,
                                                           std::size_t keys, std::size_t features) noexcept {
    return detail::all_finite<Arch>(from, row, keys, features);
  }

  template <bool MarkHidden>
  [[gnu::always_inline]] static void weigh(element_of<Arch>* scores, const keys_per_vector<Arch>& keys,
                                           std::size_t vectors, const softmax_state<Arch>& state,
                                           element_of<Arch>* rescale) noexcept {
    detail::weigh<Arch, MarkHidden>(scores, keys, vectors, state, rescale);
  }

  [[gnu::always_inline]] static void add_marked_keys(const element_of<Arch>* weights, const element_of<Arch>* v,
                                                     std::ptrdiff_t v_row, const keys_per_vector<Arch>& keys,
                                                     std::size_t vectors, element_of<Arch>* out,
                                                     const element_of<Arch>* rescale) noexcept {
    detail::add_marked_keys<Arch>(weights, v, v_row, keys, vectors, out, rescale);
  }
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
