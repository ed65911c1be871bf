// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops/scatter.hpp -- the reference loops of scatter_add: rows added to those that ids name.
//
// Layer: eval. Ids are checked before anything is added. Many rows of one id have carried sums.
// Tests: tests/expr/rearrange/ids.test.cpp
#pragma once

#include <dimwise/eval/loops/ids.hpp>

#include <cstddef>

namespace dimwise::detail {

// The loops of scatter_add, for a destination that has D as one axis.
template <class N>
struct scatter_loops {
  using values_type = element_t<0, children_t<N>>;
  using ids_type = element_t<1, children_t<N>>;
  using D = first_t<typename operation_of<N>::over>;
  using axes = axes_for<shape_of<N>>;
  using id_axes = axes_for<shape_of<ids_type>>;
  using value_axes = axes_for<shape_of<values_type>>;
  using beside = difference_t<value_axes, id_axes>;
  kernels::loop_nest<1> all;  // of the destination
  kernels::loop_nest<3> ids;  // over the ids: the destination but for D, the values, the ids
  kernels::loop_nest<2> row;  // of one id: the destination, the values
  axis along;                 // D of the destination

  template <class Lowered>
  scatter_loops(const N& n, const axis* to, const Lowered& in) {
    axis here[max_rank];
    for (std::size_t i = 0; i < axes::size; ++i) { here[i] = to[i]; }
    axis extents[max_rank];
    axis_extents<axes>::write(n.extents(), extents);
    std::ptrdiff_t whole[1][max_rank] = {};
    for (std::size_t i = 0; i < axes::size; ++i) { whole[0][i] = here[i].stride; }
    all = nest_over(axes::size, extents, whole);
    // D moves by ids alone, also where the ids have D themselves.
    using d = one_axis<D, axes>;
    along = d::of(here, n.extents());
    for (std::size_t i = d::first; i < d::first + d::count; ++i) { here[i].stride = 0; }
    std::ptrdiff_t strides[3][max_rank] = {};
    align<id_axes, axes>(here, strides[0]);
    align<id_axes, value_axes>(child_in<0>(in).axes, strides[1]);
    align<id_axes, id_axes>(child_in<1>(in).axes, strides[2]);
    axis_extents<id_axes>::write(n.template child<1>().extents(), extents);
    ids = nest_over(id_axes::size, extents, strides);
    std::ptrdiff_t inside[2][max_rank] = {};
    align<beside, axes>(here, inside[0]);
    align<beside, value_axes>(child_in<0>(in).axes, inside[1]);
    axis_extents<beside>::write(n.template child<0>().extents(), extents);
    row = nest_over(beside::size, extents, inside);
  }
};
template <class T>
void fill_zero(const kernels::loop_nest<1>& nest, T* to) {
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[1], std::size_t count, const std::ptrdiff_t(&s)[1]) {
    for (std::size_t i = 0; i < count; ++i) { to[o[0] + static_cast<std::ptrdiff_t>(i) * s[0]] = T(0); }
  });
}

// Ids as the numbers that loops and kernels read: an id holds nothing else.
template <class D>
const std::size_t* numbers_of(const id<D>* ids) {
  static_assert(sizeof(id<D>) == sizeof(std::size_t));
  return &ids->value;
}
// All ids, before anything is added by them.
template <std::size_t K>  // 3: a template is compiled where something is added by ids
void check_ids(const kernels::loop_nest<K>& nest, const std::size_t* ids, extent_t extent, name_of name) {
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[K], std::size_t many, const std::ptrdiff_t(&s)[K]) {
    for (std::size_t i = 0; i < many; ++i) {
      (void)checked_id("scatter_add", ids[o[2] + static_cast<std::ptrdiff_t>(i) * s[2]], extent, name);
    }
  });
}

// The rows of one destination, those of one id side by side, where an id has more of them than are added one after the
// other; else none.
template <std::size_t K>  // 3: a template is compiled where something is added by ids
aligned_vector<added_row> rows_of_long_sums(const kernels::loop_nest<K>& nest, const std::size_t* ids,
                                            const axis& along) {
  aligned_vector<added_row> sorted;
  if (nest.size() <= kernels::detail_loops::few_terms) { return sorted; }
  // f(id, row)
  const auto each = [&](const auto& f) {
    kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[K], std::size_t many, const std::ptrdiff_t(&s)[K]) {
      for (std::size_t i = 0; i < many; ++i) {
        const auto j = static_cast<std::ptrdiff_t>(i);
        f(ids[o[2] + j * s[2]], o[1] + j * s[1]);
      }
    });
  };
  aligned_vector<std::size_t> places(along.extent);
  for (std::size_t& place : places) { place = 0; }
  std::size_t most = 0;
  each([&](std::size_t id, std::ptrdiff_t) { most = ++places[id] > most ? places[id] : most; });
  if (most <= kernels::detail_loops::few_terms) { return sorted; }
  std::size_t first = 0;
  for (std::size_t& place : places) {
    const std::size_t rows = place;
    place = first;
    first += rows;
  }
  sorted.resize(first);
  each([&](std::size_t id, std::ptrdiff_t from) { sorted[places[id]++] = {times(along.stride, id), from}; });
  return sorted;
}

// to += from, for rows of these loops.
template <class T>
void add_row(const kernels::loop_nest<2>& row, T* to, const T* from) {
  kernels::for_each_row(row, [&](const std::ptrdiff_t(&p)[2], std::size_t count, const std::ptrdiff_t(&q)[2]) {
    if (q[0] == 1 && q[1] == 1) {
      T* const to_row = to + p[0];
      const T* const from_row = from + p[1];
      for (std::size_t k = 0; k < count; ++k) { to_row[k] = static_cast<T>(to_row[k] + from_row[k]); }
      return;
    }
    for (std::size_t k = 0; k < count; ++k) {
      const auto l = static_cast<std::ptrdiff_t>(k);
      to[p[0] + l * q[0]] = static_cast<T>(to[p[0] + l * q[0]] + from[p[1] + l * q[1]]);
    }
  });
}
// The sum of very many rows, which is carried.
template <class T>
void add_long_sum(const kernels::loop_nest<2>& row, T* to, const T* from, const added_row* rows, std::size_t many) {
  namespace all = kernels::detail_loops;
  kernels::for_each_row(row, [&](const std::ptrdiff_t(&p)[2], std::size_t count, const std::ptrdiff_t(&q)[2]) {
    for (std::size_t first = 0; first < count; first += all::long_columns) {
      const std::size_t columns = count - first < all::long_columns ? count - first : all::long_columns;
      const auto at = static_cast<std::ptrdiff_t>(first);
      all::column_sums<T> sums;
      for (std::size_t r = 0; r < many; ++r) {
        const T* x = from + rows[r].from + p[1] + at * q[1];
        for (std::size_t k = 0; k < columns; ++k, x += q[1]) { sums.part[k] += *x; }
        if (++sums.rows == all::sum_block) { sums.carry(columns); }
      }
      sums.carry(columns);
      for (std::size_t k = 0; k < columns; ++k) {
        to[p[0] + (at + static_cast<std::ptrdiff_t>(k)) * q[0]] += sums.totals[k].value();
      }
    }
  });
}
// The rows of `ids` added to the destinations that they name. One function for all names.
template <class T, std::size_t K>
void add_by_ids(const kernels::loop_nest<K>& nest, const kernels::loop_nest<2>& row, const axis& along, T* to,
                const T* from, const std::size_t* ids) {
  kernels::loop_nest<K> tables;  // of them each id has a row
  kernels::loop_nest<K> rows;
  for (std::size_t i = 0; i < nest.rank; ++i) {
    (nest.stride[0][i] == 0 ? rows : tables)
        .add(nest.extent[i], {nest.stride[0][i], nest.stride[1][i], nest.stride[2][i]});
  }
  const auto add_to_table = [&](T* table, const T* values, const std::size_t* here) {
    if constexpr (std::is_floating_point_v<T>) {
      const aligned_vector<added_row> sorted = rows_of_long_sums(rows, here, along);
      for (std::size_t r = 0, many = 1; r < sorted.size(); r += many, many = 1) {
        T* const sums = table + sorted[r].to;
        while (r + many < sorted.size() && sorted[r + many].to == sorted[r].to) { ++many; }
        if (many > kernels::detail_loops::few_terms) {
          add_long_sum(row, sums, values, &sorted[r], many);
        } else {
          for (std::size_t i = r; i < r + many; ++i) { add_row(row, sums, values + sorted[i].from); }
        }
      }
      if (!sorted.empty()) { return; }
    }
    kernels::for_each_row(rows, [&](const std::ptrdiff_t(&o)[K], std::size_t many, const std::ptrdiff_t(&s)[K]) {
      for (std::size_t i = 0; i < many; ++i) {
        const auto j = static_cast<std::ptrdiff_t>(i);
        add_row(row, table + times(along.stride, here[o[2] + j * s[2]]), values + o[1] + j * s[1]);
      }
    });
  };
  kernels::for_each_row(tables, [&](const std::ptrdiff_t(&o)[K], std::size_t many, const std::ptrdiff_t(&s)[K]) {
    for (std::size_t i = 0; i < many; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      add_to_table(to + o[0] + j * s[0], from + o[1] + j * s[1], ids + o[2] + j * s[2]);
    }
  });
}
template <class N, class T, class Lowered>
void scatter(const N& n, target<T> to, const Lowered& in) {
  using D = typename scatter_loops<N>::D;
  const auto& ids = child_in<1>(in);
  write_along<D>(n, to, [&](target<T> out) {
    const scatter_loops<N> all(n, out.axes, in);
    fill_zero(all.all, out.data);
    if (all.ids.empty()) { return; }
    check_ids(all.ids, numbers_of(ids.data), all.along.extent, &dimension_name<D>);
    add_by_ids(all.ids, all.row, all.along, out.data, child_in<0>(in).data, numbers_of(ids.data));
  });
}
template <class C, class Shape, class D, class Values, class Ids, class T, class Lowered>
void loops(const scatter_add_node<Shape, D, Values, Ids>& n, target<T> to, const Lowered& in) {
  scatter(n, to, in);
}

#if DIMWISE_DETAIL_HAS_LIBRARY
DIMWISE_DETAIL_LIBRARY_TEMPLATE void check_ids<3>(const kernels::loop_nest<3>&, const std::size_t*, extent_t, name_of);
DIMWISE_DETAIL_LIBRARY_TEMPLATE aligned_vector<added_row> rows_of_long_sums<3>(const kernels::loop_nest<3>&,
                                                                               const std::size_t*, const axis&);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void add_by_ids<float, 3>(const kernels::loop_nest<3>&, const kernels::loop_nest<2>&,
                                                          const axis&, float*, const float*, const std::size_t*);
#endif

}  // namespace dimwise::detail
