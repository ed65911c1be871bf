// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/caches/narrow.hpp -- floats into elements of 16, 8 or 4 bits: how caches store them.
//
// Layer: eval.
// Tests: tests/nn/cache/bfloat16.test.cpp
#pragma once

#include <dimwise/eval/pass.hpp>
#include <dimwise/expr/elements/widen.hpp>

namespace dimwise::detail {

// Stands in for the scale of stored elements without one.
struct no_scale {};

// The scale's memory and strides along some axes; one for everything where there is none.
template <class Axes, class C, class Scale>
struct lowered_scale {
  lowered<C> memory;
  std::ptrdiff_t strides[max_rank] = {};

  explicit lowered_scale(const Scale& scale) : memory(lower<C>(scale)) {
    align<Axes, axes_for<shape_of<Scale>>>(memory.axes, strides);
  }
  [[nodiscard]] const C* data() const { return memory.data; }
};
template <class Axes, class C>
struct lowered_scale<Axes, C, no_scale> {
  static constexpr C one = C(1);
  std::ptrdiff_t strides[max_rank] = {};

  explicit lowered_scale(const no_scale&) {}
  [[nodiscard]] static const C* data() { return &one; }
};

// Elements into memory with the same axes in the same order, narrowed where they are wider; nothing is allocated. A
// packed feature is counted in elements in one and in bytes in the other.
template <class Axes, class Packed, class S, class T, class Scale>
void store_axes(S* to, const axis* to_axes, const T* from, const axis* from_axes, const Scale& given) {
  const lowered_scale<Axes, float, Scale> scale(given);
  axis result[max_rank];
  std::ptrdiff_t strides[3][max_rank] = {};
  for (std::size_t i = 0; i < Axes::size; ++i) {
    result[i].extent = from_axes[i].extent;
    strides[0][i] = to_axes[i].stride;
    strides[1][i] = from_axes[i].stride;
    strides[2][i] = scale.strides[i];
  }
  const float* by = scale.data();
  // One row of features: `f` counts them, or the bytes of two.
  std::size_t features = 1;
  std::ptrdiff_t step[3] = {};
  if constexpr (!std::is_same_v<Packed, nothing>) {
    constexpr std::size_t f_axis = index_in<Packed, Axes>;
    features = result[f_axis].extent;
    for (std::size_t k = 0; k < 3; ++k) { step[k] = strides[k][f_axis]; }
    result[f_axis].extent = 1;
  }
  kernels::for_each_row(nest_over(Axes::size, result, strides),
                        [&](const std::ptrdiff_t(&o)[3], std::size_t count, const std::ptrdiff_t(&s)[3]) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      S* const out = to + o[0] + j * s[0];
      const T* const in = from + o[1] + j * s[1];
      const float* const scale_of = by + o[2] + j * s[2];
      if constexpr (std::is_same_v<S, T>) {
        *out = *in;
      } else if constexpr (std::is_same_v<S, std::int8_t>) {
        *out = static_cast<std::int8_t>(quantised_number(*in, *scale_of, -128, 127));
      } else if constexpr (std::is_same_v<S, int4_pair>) {
        const auto number = [&](std::size_t f) {
          const auto g = static_cast<std::ptrdiff_t>(f);
          return f >= features ? 0 : quantised_number(in[g * step[1]], scale_of[g * step[2]], -8, 7);
        };
        for (std::size_t f = 0; f < features; f += 2) {
          out[static_cast<std::ptrdiff_t>(f / 2) * step[0]] = int4_pair(number(f), number(f + 1));
        }
      } else {
        *out = static_cast<S>(*in);
      }
    }
  });
}

/// The elements of a view into another of the same dimensions in the same order.
template <class S, class... D, class T, class... E, class Scale = no_scale>
void store(const tensor_view<S, D...>& to, const tensor_view<const T, E...>& from, const Scale& scale = {}) {
  static_assert(std::is_same_v<dims_t<shape<D...>>, dims_t<shape<E...>>>);
  store_axes<axes_for<shape<E...>>, nothing>(to.data(), to.layout().data(), from.data(), from.layout().data(), scale);
}
/// The same, two elements of F to a byte.
template <class F, class... D, class T, class... E, class Scale>
void store_packed(const tensor_view<int4_pair, D...>& to, const tensor_view<const T, E...>& from, const Scale& scale) {
  static_assert(std::is_same_v<replace_t<dims_t<shape<D...>>, half<F>, list<F>>, dims_t<shape<E...>>>);
  store_axes<axes_for<shape<E...>>, F>(to.data(), to.layout().data(), from.data(), from.layout().data(), scale);
}

}  // namespace dimwise::detail
