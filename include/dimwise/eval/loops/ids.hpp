// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops/ids.hpp -- the reference loops of orders and ids: roll, flip, gather, ids_of, one_hot,
// scatter_add.
//
// Layer: eval.
// Tests: tests/expr/rearrange/reorder.test.cpp, tests/expr/rearrange/ids.test.cpp, tests/expr/rearrange/join.test.cpp
#pragma once

#include <dimwise/eval/pass.hpp>
#include <dimwise/expr/rearrange/ids.hpp>
#include <dimwise/expr/rearrange/reorder.hpp>

#include <type_traits>

namespace dimwise::detail {

// D among some axes, as the one axis that it is once its factors follow each other.
template <class D, class Axes>
struct one_axis {
  static constexpr std::size_t first = index_in<first_t<typename axes_of<D>::type>, Axes>;
  static constexpr std::size_t count = axes_of<D>::type::size;
  static bool is_one(const axis* axes) { return follow_each_other(axes + first, count); }
  template <class Extents>
  static axis of(const axis* axes, const Extents& e) {
    return {e.template extent<D>(), axes[first + count - 1].stride};
  }
};

// D of an operand as one axis; in `x` it moves nothing any more, whatever another operand calls D.
template <class D, class Axes, class T, class Extents>
axis taken_out(lowered<T>& x, const Extents& e) {
  using d = one_axis<D, Axes>;
  if (!d::is_one(x.axes)) { make_dense<T, Axes>(x); }
  const axis whole = d::of(x.axes, e);
  for (std::size_t i = d::first; i < d::first + d::count; ++i) { x.axes[i].stride = 0; }
  return whole;
}

// write(target): into a buffer first, where the destination does not have D as one axis.
template <class D, class T, class N, class Write>
void write_along(const N& n, target<T> to, Write write) {
  using axes = axes_for<shape_of<N>>;
  if (one_axis<D, axes>::is_one(to.axes)) { return write(to); }
  lowered<T> buffer{buffer_layout(n), nullptr, {}, nullptr};
  buffer.buffer.resize(checked_size<axes>(buffer.axes, sizeof(T), "evaluate"));
  write(target_of(buffer));
  copy_axes<T>(axes::size, buffer.axes, to.axes, buffer.axes, to.data, buffer.data);
}

// The id, which has a place in a dimension of that extent and name.
inline std::ptrdiff_t checked_id(const char* operation, std::size_t i, extent_t extent, name_of name) {
  if (i >= extent) {
    raise<index_error>(error{} << operation << ": id " << i << " is outside dimension " << name() << " of extent "
                               << extent << " (R18)");
  }
  return static_cast<std::ptrdiff_t>(i);
}
template <class D>
std::ptrdiff_t checked_id(const char* operation, id<D> i, extent_t extent) {
  return checked_id(operation, i.value, extent, &dimension_name<D>);
}

// The extents of `Axes` where an axis of D counts as one element.
template <class Axes, class D, class Extents>
void extents_beside_axes(const Extents& e, axis* to) {
  axis_extents<Axes>::write(e, to);
  using d = one_axis<D, Axes>;
  for (std::size_t i = d::first; i < d::first + d::count; ++i) { to[i].extent = 1; }
}

template <class C, class Shape, class How, class D, class E, class T, class Lowered>
void loops(const reordered<Shape, How, D, E>& n, target<T> to, Lowered& in) {
  using axes = axes_for<Shape>;
  auto& x = child_in<0>(in);
  const axis from = taken_out<D, axes_for<shape_of<E>>>(x, n.extents());
  write_along<D>(n, to, [&](target<T> out) {
    const axis here = one_axis<D, axes>::of(out.axes, n.extents());
    axis rest[max_rank];
    extents_beside_axes<axes, D>(n.extents(), rest);
    std::ptrdiff_t strides[2][max_rank] = {};
    for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = out.axes[i].stride; }
    align<axes, axes_for<shape_of<E>>>(x.axes, strides[1]);
    constexpr std::size_t d = one_axis<D, axes>::first;
    strides[0][d] = here.stride;
    constexpr bool reversed = std::is_same_v<How, orders::flip>;
    strides[1][d] = reversed ? -from.stride : from.stride;
    // `count` elements, of which the first is element `first` of the operand and element `at` of the result.
    const auto copy = [&](std::size_t at, std::size_t first, std::size_t count) {
      rest[d].extent = count;
      const auto nest = nest_over(axes::size, rest, strides);
      if (!nest.empty()) { kernels::copy(nest, out.data + times(here.stride, at), x.data + times(from.stride, first)); }
    };
    if (from.extent == 0) { return; }
    if constexpr (reversed) {
      copy(0, from.extent - 1, from.extent);
    } else if constexpr (std::is_same_v<How, orders::roll>) {
      copy(0, from.extent - n.op().by, n.op().by);
      copy(n.op().by, 0, from.extent - n.op().by);
    } else {
      static_assert(is_handled<How>, "dimwise: this order has no reference loop");
    }
  });
}

template <class C, class Shape, class D, class Table, class Ids, class T, class Lowered>
void loops(const gathered<Shape, D, Table, Ids>& n, target<T> to, Lowered& in) {
  using axes = axes_for<Shape>;
  using table_axes = axes_for<shape_of<Table>>;
  auto& table = child_in<0>(in);
  const auto& ids = child_in<1>(in);
  const axis along = taken_out<D, table_axes>(table, n.template child<0>().extents());
  axis result[max_rank];
  axis_extents<axes>::write(n.extents(), result);
  std::ptrdiff_t strides[3][max_rank] = {};
  for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = to.axes[i].stride; }
  align<axes, axes_for<shape_of<Ids>>>(ids.axes, strides[1]);
  align<axes, table_axes>(table.axes, strides[2]);
  kernels::for_each_row(nest_over(axes::size, result, strides),
                        [&](const std::ptrdiff_t(&o)[3], std::size_t count, const std::ptrdiff_t(&s)[3]) {
    if (s[0] == 1 && s[1] == 0 && s[2] == 1) {  // rows of a table, as they are
      const auto* const row = table.data + o[2] + checked_id("gather", ids.data[o[1]], along.extent) * along.stride;
      auto* const out = to.data + o[0];
      for (std::size_t i = 0; i < count; ++i) { out[i] = row[i]; }
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      const std::ptrdiff_t at = checked_id("gather", ids.data[o[1] + j * s[1]], along.extent);
      to.data[o[0] + j * s[0]] = table.data[o[2] + j * s[2] + at * along.stride];
    }
  });
}

template <class C, class Shape, class D, class Lowered>
void loops(const ids_node<Shape, D>& n, target<id<D>> to, const Lowered&) {
  write_along<D>(n, to, [&](target<id<D>> out) {
    const axis all = one_axis<D, axes_for<Shape>>::of(out.axes, n.extents());
    for (std::size_t i = 0; i < all.extent; ++i) { out.data[times(all.stride, i)] = id<D>(i); }
  });
}

template <class C, class Shape, class T, class D, class Ids, class Out, class Lowered>
void loops(const one_hot_node<Shape, T, D, Ids>& n, target<Out> to, const Lowered& in) {
  using axes = axes_for<Shape>;
  const auto& ids = child_in<0>(in);
  const axis along = one_axis<D, axes>::of(to.axes, n.extents());
  axis rest[max_rank];
  extents_beside_axes<axes, D>(n.extents(), rest);
  std::ptrdiff_t strides[2][max_rank] = {};
  for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = to.axes[i].stride; }
  align<axes, axes_for<shape_of<Ids>>>(ids.axes, strides[1]);
  kernels::for_each_element(nest_over(axes::size, rest, strides), [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    const std::ptrdiff_t at = checked_id("one_hot", ids.data[f], along.extent);
    for (std::size_t i = 0; i < along.extent; ++i) { to.data[t + times(along.stride, i)] = Out(0); }
    to.data[t + at * along.stride] = Out(1);
  });
}

}  // namespace dimwise::detail
