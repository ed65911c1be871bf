// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/lowering/views_definitions.hpp -- what each view does to a layout.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/expr/rearrange/restride.test.cpp, tests/expr/masks/window.test.cpp
#pragma once

#include <dimwise/eval/lowering/views.hpp>

namespace dimwise::detail {

// Some names of axes, in order.
struct axis_names {
  name_of at[max_rank];
  std::size_t size = 0;

  // The names of `all` that `some` has, or those that it lacks.
  axis_names(name_list all, name_list some, bool has) {
    for (const name_of name : all) {
      if ((some.place_of(name) >= 0) == has) { at[size++] = name; }
    }
  }
  [[nodiscard]] name_list names() const { return {at, size}; }
};
// The strides of a memory along some names; 0 along those that it lacks.
inline void align_names(name_list to, name_list from, const axis* axes, std::ptrdiff_t* strides) {
  for (std::size_t i = 0; i < to.size; ++i) {
    const short place = from.place_of(to.at[i]);
    strides[i] = place < 0 ? 0 : axes[place].stride;
  }
}
// Axes of the result from the operand's axes of the same name.
inline void regroup_axes(operand_layout& x, name_list from, name_list to, const axis* result) {
  std::ptrdiff_t strides[max_rank];
  align_names(to, from, x.axes, strides);
  for (std::size_t i = 0; i < to.size; ++i) { x.axes[i] = {result[i].extent, strides[i]}; }
}
// `new_count` axes of the result in place of the operand's `old_count`; the innermost has the stride `innermost`.
inline void exchange_axes(operand_layout& x, const view_facts& view, std::ptrdiff_t innermost, std::size_t rank,
                          const axis* result) {
  axis old[max_rank];
  for (std::size_t i = 0; i < rank; ++i) { old[i] = x.axes[i]; }
  std::ptrdiff_t stride = innermost;
  for (std::size_t i = view.first + view.new_count; i-- > view.first;) {
    x.axes[i] = {result[i].extent, stride};
    stride = times(stride, result[i].extent);
  }
  for (std::size_t i = view.first + view.old_count; i < rank; ++i) {
    x.axes[i + view.new_count - view.old_count] = old[i];
  }
}

// A kind that is not handled does not compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
DIMWISE_DETAIL_LIBRARY void take_step(operand_layout& x, const view_facts& view, std::size_t index, name_list from,
                                      name_list to, const axis* result) {
  axis& changed = x.axes[view.first];
  switch (view.kind) {
    case view_kind::marks:
      return;
    case view_kind::regroup:
    case view_kind::broadcast:
      return regroup_axes(x, from, to, result);
    case view_kind::rename:
      return exchange_axes(x, view, x.axes[view.first + view.old_count - 1].stride, from.size, result);
    case view_kind::part:
      x.first += times(changed.stride, index);
      return exchange_axes(x, view, changed.stride, from.size, result);
    case view_kind::diagonal:
      changed.stride += x.axes[view.second].stride;
      return regroup_axes(x, from, to, result);
    case view_kind::at:
      x.first += times(changed.stride, index);
      return regroup_axes(x, from, to, result);
    case view_kind::slice:
      exchange_axes(x, view, x.axes[view.first + view.old_count - 1].stride, from.size, result);
      x.first += times(changed.stride, index);
      return;
    case view_kind::unroll:
    case view_kind::pool: {
      for (std::size_t i = from.size; i-- > view.first + 1;) { x.axes[i + 1] = x.axes[i]; }
      const std::ptrdiff_t stride = changed.stride;
      const std::size_t step = view.kind == view_kind::pool ? result[view.first + 1].extent : view.by;
      x.axes[view.first + 1] = {result[view.first + 1].extent, stride};
      changed = {result[view.first].extent, times(stride, step)};
      return;
    }
  }
}
#pragma GCC diagnostic pop

}  // namespace dimwise::detail
