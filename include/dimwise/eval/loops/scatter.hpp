// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops/scatter.hpp -- the reference loops of scatter_add: rows added to those that ids name.
//
// Layer: eval. Ids are checked before anything is added. Many rows of one id have carried sums.
// Tests: tests/expr/rearrange/ids.test.cpp
#pragma once

#include <dimwise/eval/loops/ids.hpp>

#include <cstddef>

namespace dimwise::detail {

// The loops of scatter_add, for a destination that has the dimension as one axis.
struct scatter_loops {
  kernels::loop_nest<1> all{};  // of the destination
  kernels::loop_nest<3> ids{};  // over the ids: the destination but for the dimension, the values, the ids
  kernels::loop_nest<2> row{};  // of one id: the destination, the values
  axis along;                   // the dimension of the destination

  scatter_loops(name_list result, const axis* to, name_list dimension, name_list value_names, const axis* values,
                name_list id_names, const axis* id_axes)
      : along(one_axis(result, dimension).of(to)) {
    axis here[max_rank];
    for (std::size_t i = 0; i < result.size; ++i) {
      here[i] = to[i];
      all.add(to[i].extent, {to[i].stride});
    }
    // It moves by ids alone, also where the ids have it themselves.
    one_axis(result, dimension).stop(here);
    const auto stride = [](name_list names, const axis* axes, name_of name) -> std::ptrdiff_t {
      const short place = names.place_of(name);
      return place < 0 ? 0 : axes[place].stride;
    };
    for (std::size_t i = 0; i < id_names.size; ++i) {
      const name_of name = id_names.at[i];
      ids.add(id_axes[i].extent, {stride(result, here, name), stride(value_names, values, name), id_axes[i].stride});
    }
    for (std::size_t i = 0; i < value_names.size; ++i) {
      const name_of name = value_names.at[i];
      if (id_names.place_of(name) < 0) { row.add(values[i].extent, {stride(result, here, name), values[i].stride}); }
    }
  }
};
template <class T>
void fill_zero(const kernels::loop_nest<1>& nest, T* to) {
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[1], std::size_t count, const std::ptrdiff_t(&s)[1]) {
    for (std::size_t i = 0; i < count; ++i) { to[o[0] + static_cast<std::ptrdiff_t>(i) * s[0]] = T(0); }
  });
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
// The values added up where their ids say.
template <class T>
void scatter(const scatter_loops& loops, name_of name, T* to, const T* values, const std::size_t* ids) {
  fill_zero(loops.all, to);
  if (loops.ids.empty()) { return; }
  check_ids(loops.ids, ids, loops.along.extent, name);
  add_by_ids(loops.ids, loops.row, loops.along, to, values, ids);
}
template <class C, class Shape, class D, class Values, class Ids, class T, class Lowered>
void loops(const scatter_add_node<Shape, D, Values, Ids>& n, target<T> to, const Lowered& in) {
  write_along<D>(n, to, [&](target<T> out) {
    const scatter_loops all(name_list_of<axes_for<Shape>>, out.axes, name_list_of<axes_of_list_t<list<D>>>,
                            name_list_of<axes_for<shape_of<Values>>>, child_in<0>(in).axes,
                            name_list_of<axes_for<shape_of<Ids>>>, child_in<1>(in).axes);
    scatter(all, &dimension_name<D>, out.data, child_in<0>(in).data, numbers_of(child_in<1>(in).data));
  });
}

#if DIMWISE_DETAIL_HAS_LIBRARY
DIMWISE_DETAIL_LIBRARY_TEMPLATE void check_ids<3>(const kernels::loop_nest<3>&, const std::size_t*, extent_t, name_of);
DIMWISE_DETAIL_LIBRARY_TEMPLATE aligned_vector<added_row> rows_of_long_sums<3>(const kernels::loop_nest<3>&,
                                                                               const std::size_t*, const axis&);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void add_by_ids<float, 3>(const kernels::loop_nest<3>&, const kernels::loop_nest<2>&,
                                                          const axis&, float*, const float*, const std::size_t*);
#endif

}  // namespace dimwise::detail
