// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops/backward.hpp -- the reference loops of the backward pass of relative positions.
//
// Layer: eval. backward_rows.hpp has the loops of rows and reductions.
// Tests: tests/grad/operations/views.test.cpp
#pragma once

#include <dimwise/eval/lowering/views.hpp>
#include <dimwise/eval/pass.hpp>
#include <dimwise/expr/backward.hpp>

namespace dimwise::detail {

// ---- skew -----------------------------------------------------------------------------------------------------------

template <class C, class Q, class R, class K, class Shape, class U, class G, class T, class Lowered>
void loops(const node<skew_back<Q, R, K>, Shape, U, G>& n, target<T> to, const Lowered& x) {
  using axes = axes_for<Shape>;
  using inner_axes = axes_for<shape_of<G>>;
  const auto& g = child_in<0>(x);
  constexpr std::size_t q_axis = index_in<Q, axes>;
  constexpr std::size_t r_axis = index_in<R, axes>;
  const axis keys = g.axes[index_in<K, inner_axes>];
  axis rest[max_rank];
  axis_extents<axes>::write(n.extents(), rest);
  const std::size_t queries = rest[q_axis].extent;
  const std::size_t relative = rest[r_axis].extent;
  rest[q_axis].extent = 1;
  rest[r_axis].extent = 1;
  std::ptrdiff_t strides[2][max_rank] = {};
  for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = to.axes[i].stride; }
  align<axes, inner_axes>(g.axes, strides[1]);
  const auto outside = nest_over(axes::size, rest, strides);
  for (std::size_t q = 0; q < queries; ++q) {
    for (std::size_t r = 0; r < relative; ++r) {
      const std::ptrdiff_t k = static_cast<std::ptrdiff_t>(r) - n.op().first + static_cast<std::ptrdiff_t>(q);
      const bool there = k >= 0 && k < static_cast<std::ptrdiff_t>(keys.extent);
      const std::ptrdiff_t out = times(to.axes[q_axis].stride, q) + times(to.axes[r_axis].stride, r);
      const std::ptrdiff_t from = there ? times(strides[1][q_axis], q) + k * keys.stride : 0;
      kernels::for_each_element(
          outside, [&](std::ptrdiff_t t, std::ptrdiff_t f) { to.data[t + out] = there ? g.data[f + from] : T(0); });
    }
  }
}

}  // namespace dimwise::detail
