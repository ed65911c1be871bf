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

// A dimension among some axes, as the one axis that it is once its factors follow each other.
struct one_axis {
  std::size_t first;
  std::size_t count;

  constexpr one_axis(std::size_t place, std::size_t factors) : first(place), count(factors) {}
  one_axis(name_list axes, name_list dimension)
      : one_axis(static_cast<std::size_t>(axes.place_of(dimension.at[0])), dimension.size) {}
  [[nodiscard]] bool is_one(const axis* axes) const { return follow_each_other(axes + first, count); }
  [[nodiscard]] axis of(const axis* axes) const {
    extent_t extent = 1;
    for (std::size_t i = first; i < first + count; ++i) { extent *= axes[i].extent; }
    return {extent, axes[first + count - 1].stride};
  }
  // From here on it moves nothing.
  void stop(axis* axes) const {
    for (std::size_t i = first; i < first + count; ++i) { axes[i].stride = 0; }
  }
  // One element of it.
  void leave_one(axis* axes) const {
    for (std::size_t i = first; i < first + count; ++i) { axes[i].extent = 1; }
  }
};
// By types: g++ compares no functions in constants where it looks for undefined behaviour.
template <class D, class Axes, class Factors = axes_of_list_t<list<D>>>
inline constexpr one_axis axis_of_dimension = {index_in<first_t<Factors>, Axes>, Factors::size};

// A dimension of an operand as one axis; in `x` it moves nothing any more, whatever another operand calls it.
template <class T>
axis taken_out(lowered<T>& x, name_list axes, name_list dimension) {
  const one_axis d(axes, dimension);
  if (!d.is_one(x.axes)) { make_dense(x, axes); }
  const axis whole = d.of(x.axes);
  d.stop(x.axes);
  return whole;
}

// write(target): into a buffer first, where the destination does not have D as one axis.
template <class D, class T, class N, class Write>
void write_along(const N& n, target<T> to, Write write) {
  using axes = axes_for<shape_of<N>>;
  if (axis_of_dimension<D, axes>.is_one(to.axes)) { return write(to); }
  lowered<T> buffer{buffer_layout(n), nullptr, {}, nullptr};
  buffer.buffer.resize(checked_size<axes>(buffer.axes, sizeof(T), "evaluate"));
  write(target_of(buffer));
  copy_axes<T>(axes::size, buffer.axes, to.axes, buffer.axes, to.data, buffer.data);
}

// Ids as the numbers that loops and kernels read: an id holds nothing else.
template <class D>
const std::size_t* numbers_of(const id<D>* ids) {
  static_assert(sizeof(id<D>) == sizeof(std::size_t));
  return ids == nullptr ? nullptr : &ids->value;
}
template <class D>
lowered<std::size_t> as_numbers(const lowered<id<D>>& ids) {
  lowered<std::size_t> to;
  static_cast<operand_layout&>(to) = ids;
  if (ids.buffer.empty()) {
    to.data = numbers_of(ids.data);
  } else {
    to.buffer.resize(ids.buffer.size());
    copy_elements(numbers_of(ids.buffer.data()), ids.buffer.size(), to.buffer.data());
    to.data = to.buffer.data() + (ids.data - ids.buffer.data());
  }
  return to;
}

// The id, which has a place in a dimension of that extent and name. One made of a negative number is shown as that.
inline std::ptrdiff_t checked_id(const char* operation, std::size_t i, extent_t extent, name_of name) {
  if (i >= extent) {
    raise<index_error>(error{} << operation << ": id " << static_cast<long long>(i) << " is outside dimension "
                               << name() << " of extent " << extent << " (R18)");
  }
  return static_cast<std::ptrdiff_t>(i);
}
template <class D>
std::ptrdiff_t checked_id(const char* operation, id<D> i, extent_t extent) {
  return checked_id(operation, i.value, extent, &dimension_name<D>);
}

template <class C, class Shape, class How, class D, class E, class T, class Lowered>
void loops(const reordered<Shape, How, D, E>& n, target<T> to, Lowered& in) {
  using axes = axes_for<Shape>;
  auto& x = child_in<0>(in);
  const axis from = taken_out(x, name_list_of<axes_for<shape_of<E>>>, name_list_of<axes_of_list_t<list<D>>>);
  write_along<D>(n, to, [&](target<T> out) {
    constexpr one_axis along = axis_of_dimension<D, axes>;
    const axis here = along.of(out.axes);
    axis rest[max_rank];
    axis_extents<axes>::write(n.extents(), rest);
    along.leave_one(rest);
    std::ptrdiff_t strides[2][max_rank] = {};
    for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = out.axes[i].stride; }
    align<axes, axes_for<shape_of<E>>>(x.axes, strides[1]);
    constexpr std::size_t d = along.first;
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

// Elements of a table by ids: the loops go over the result, the ids and the table, in which `along` is apart. One
// function for all names.
template <class T, std::size_t K>  // 3: a template is compiled where something is gathered
void gather_by_ids(const kernels::loop_nest<K>& nest, const axis& along, name_of name, T* to, const std::size_t* ids,
                   const T* table) {
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[K], std::size_t count, const std::ptrdiff_t(&s)[K]) {
    if (s[0] == 1 && s[1] == 0 && s[2] == 1) {  // rows of a table, as they are
      const T* const row = table + o[2] + checked_id("gather", ids[o[1]], along.extent, name) * along.stride;
      T* const out = to + o[0];
      for (std::size_t i = 0; i < count; ++i) { out[i] = row[i]; }
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      const std::ptrdiff_t at = checked_id("gather", ids[o[1] + j * s[1]], along.extent, name);
      to[o[0] + j * s[0]] = table[o[2] + j * s[2] + at * along.stride];
    }
  });
}
template <class C, class Shape, class D, class Table, class Ids, class T, class Lowered>
void loops(const gathered<Shape, D, Table, Ids>&, target<T> to, Lowered& in) {
  using axes = axes_for<Shape>;
  using table_axes = axes_for<shape_of<Table>>;
  auto& table = child_in<0>(in);
  const auto& ids = child_in<1>(in);
  const axis along = taken_out(table, name_list_of<table_axes>, name_list_of<axes_of_list_t<list<D>>>);
  gather_by_ids(nest_of<axes, axes_for<shape_of<Ids>>, table_axes>(to.axes, ids, table), along, &dimension_name<D>,
                to.data, numbers_of(ids.data), table.data);
}

template <class C, class Shape, class D, class Lowered>
void loops(const ids_node<Shape, D>& n, target<id<D>> to, const Lowered&) {
  write_along<D>(n, to, [&](target<id<D>> out) {
    const axis all = axis_of_dimension<D, axes_for<Shape>>.of(out.axes);
    for (std::size_t i = 0; i < all.extent; ++i) { out.data[times(all.stride, i)] = id<D>(i); }
  });
}

template <class C, class Shape, class T, class D, class Ids, class Out, class Lowered>
void loops(const one_hot_node<Shape, T, D, Ids>& n, target<Out> to, const Lowered& in) {
  using axes = axes_for<Shape>;
  const auto& ids = child_in<0>(in);
  const axis along = axis_of_dimension<D, axes>.of(to.axes);
  axis rest[max_rank];
  axis_extents<axes>::write(n.extents(), rest);
  axis_of_dimension<D, axes>.leave_one(rest);
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
