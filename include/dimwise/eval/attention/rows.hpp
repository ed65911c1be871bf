// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/rows.hpp -- keys and values as the attention kernel reads them: floats, or the bits that are
// stored.
//
// Layer: eval.
// Tests: tests/nn/cache/bfloat16.test.cpp
#pragma once

#include <dimwise/eval/loops/elements.hpp>
#include <dimwise/kernels/dispatch/active.hpp>
#include <dimwise/kernels/dispatch/table.hpp>

namespace dimwise::detail {

// An operand in memory; where a kernel rounds what it reads, before it is rounded.
template <class Pass, class N>
lowered<float> read_rounded(Pass& pass, const N& n, bool) {
  return read<float>(pass, n);
}
template <class Pass, class Shape, class E>
  requires(std::is_same_v<value_of<E>, float>)
lowered<float> read_rounded(Pass& pass, const elementwise<Shape, float, fn::rounded<bfloat16>, E>& n,
                            bool kernel_rounds) {
  if (kernel_rounds) { return read<float>(pass, n.template child<0>()); }
  return read<float>(pass, n);
}

// Keys or values without their names: floats, or elements of some bytes in which they are stored.
struct attended_memory {
  const float* floats = nullptr;
  kernels::quantised_data stored{};
  std::size_t bytes = 0;  // of a stored element; 0: floats

  // Those of a head, which begin `offset` elements behind the first, and its scale.
  void point(const float*& to, kernels::quantised_data& bits, std::ptrdiff_t offset, std::ptrdiff_t row,
             std::ptrdiff_t scale_offset) const {
    if (bytes == 0) {
      to = floats + offset;
      return;
    }
    bits = stored;
    bits.data = static_cast<const std::byte*>(stored.data) + offset * static_cast<std::ptrdiff_t>(bytes);
    bits.row = row;
    if (stored.scale != nullptr) { bits.scale = stored.scale + scale_offset; }
  }
};

// Keys or values as the kernel reads them: floats, or the bits that they are stored in.
template <class N, class Key>
struct attended_rows {
  using scale_axes = list<>;
  lowered<float> rows;

  template <class Pass>
  attended_rows(Pass& pass, const N& n, bool kernel_rounds) : rows(read_rounded(pass, n, kernel_rounds)) {}
  [[nodiscard]] const axis* axes() const { return rows.axes; }
  [[nodiscard]] const axis* scale_at() const { return rows.axes; }  // unused
  [[nodiscard]] attended_memory memory() const { return {rows.data}; }
};
template <class Shape, class Packed, class X, class... Scale, class Key>
struct attended_rows<widened_node<Shape, Packed, X, Scale...>, Key> {
  using all = axes_for<Shape>;
  using element = value_of<X>;
  static constexpr bool scaled = sizeof...(Scale) == 1;
  using scale_axes = join_t<axes_for<shape_of<Scale>>...>;
  // Features are contiguous in memory, and all keys have one scale.
  static constexpr std::size_t last = all::size - 1;
  lowered<element> stored;
  lowered<float> scale;
  lowered<float> widened;
  bool direct;

  // Whether the kernel reads what is stored with these axes.
  static bool reads_stored(const axis* axes) {
    constexpr bool whole = std::is_same_v<Packed, nothing> || std::is_same_v<element_t<last, all>, Packed>;
    return whole && is_disjoint<scale_axes, list<Key>> && is_feature<element_t<last, all>> && axes[last].stride == 1;
  }
  template <class Pass>
  attended_rows(Pass& pass, const widened_node<Shape, Packed, X, Scale...>& n, bool)
      : stored(read<float>(pass, n.template child<0>())), direct(reads_stored(stored.axes)) {
    if constexpr (!std::is_same_v<Packed, nothing>) {
      stored.axes[last].extent = n.extents().template extent<Packed>();
    }
    if (!direct) {
      widened = read<float>(pass, n);
    } else if constexpr (scaled) {
      scale = read<float>(pass, n.template child<1>());
    }
  }
  [[nodiscard]] const axis* axes() const { return direct ? stored.axes : widened.axes; }
  [[nodiscard]] attended_memory memory() const {
    if (!direct) { return {widened.data}; }
    attended_memory here{nullptr, {stored.data, format_of<element>}, sizeof(element)};
    here.stored.kernels = kernels::active().stored_rows;
    if constexpr (scaled) {
      here.stored.scale = scale.data;
      here.stored.scale_feature = stride_of<element_t<last, all>, scale_axes>(scale);
    }
    return here;
  }
  [[nodiscard]] const axis* scale_at() const { return scale.axes; }
};

}  // namespace dimwise::detail
