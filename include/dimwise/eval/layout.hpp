// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/layout.hpp -- the layout of an operand as the evaluator will read it, without its memory.
//
// Layer: eval. `layout_in<C>(n)` gives the axes of `lower<C>(n)`, and computes and allocates nothing.
// Tests: tests/eval/plan.test.cpp, tests/eval/allocation_failure.test.cpp
#pragma once

#include <dimwise/eval/plain.hpp>

namespace dimwise::detail {

template <class C, class N>
operand_layout layout_in(const N& n);

// The layout of `lower_mask(m, e)`.
template <class M, class Extents>
operand_layout mask_layout(const M& m, const Extents& e) {
  if constexpr (requires { m.elements(); }) {
    return layout_in<working_t<std::remove_cvref_t<decltype(m.elements())>>>(m.elements());
  } else {
    operand_layout x;
    axis_extents<mask_axes<M>>::write(e, x.axes);
    make_contiguous(x.axes, mask_axes<M>::size);
    return x;
  }
}

template <class C, class N>
operand_layout layout_in(const N& n) {
  using axes = axes_for<shape_of<N>>;
  if constexpr (is_leaf<N>) {
    operand_layout x;
    (void)read_leaf(n, x.axes);
    if constexpr (!std::is_same_v<compute_t<C, value_of<N>>, value_of<N>>) { make_contiguous(x.axes, axes::size); }
    return x;
  } else if constexpr (is_view<N>) {
    using how = decltype(n.op().how);
    using inner = child_t<N>;
    operand_layout x = layout_in<C>(n.template child<0>());
    if constexpr (joins_axes<how>) {
      if (needs_dense<how, inner>(x.axes)) { make_contiguous(x.axes, axes_for<shape_of<inner>>::size); }
    }
    take_step(x, n);
    return x;
  } else if constexpr (only_looks<N>) {
    return mask_layout(n.template child<0>(), n.extents());
  } else {
    return buffer_layout(n);
  }
}

}  // namespace dimwise::detail
