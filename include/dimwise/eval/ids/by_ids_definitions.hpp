// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/ids/by_ids_definitions.hpp -- elements of a table by ids, and values added up by ids.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/expr/rearrange/join.test.cpp, tests/expr/rearrange/ids.test.cpp
#pragma once

#include <dimwise/eval/loops/scatter.hpp>
#include <dimwise/eval/records/walk_definitions.hpp>

namespace dimwise::detail {

template <class C>
void write_gathered(walk& w, const record<C>& r, target<C> to) {
  const auto& facts = r.template facts_as<id_facts_of_record>();
  const name_list table_axes = r.child[0]->shape->axes;
  auto table = read_record(w, *r.child[0]);
  const auto ids = facts.read(w, r.node);
  note(w, plan_kind::copy, r);
  if (!w.computes()) { return; }
  const axis along = taken_out(table, table_axes, facts.dimension);
  const auto nest = nest_by_names<2>(r.shape->axes, to.axes, {facts.id_axes, table_axes}, {ids.axes, table.axes});
  gather_by_ids(nest, along, facts.name, to.data, ids.data, table.data);
}

// Whether a row is contiguous in the destination and in the values.
inline bool is_contiguous_row(const kernels::loop_nest<2>& row) {
  return row.rank == 1 && row.stride[0][0] == 1 && row.stride[1][0] == 1;
}
// A copy of the values in which the elements of each id's row lie side by side, in the order of the result.
template <class C>
lowered<C> in_rows(const lowered<C>& values, name_list names, name_list result, name_list id_axes) {
  lowered<C> rows;
  std::ptrdiff_t step = 1;
  const auto add = [&](name_list of, std::size_t i, bool is_of_ids) {
    const short place = names.place_of(of.at[i]);
    if (place < 0 || (id_axes.place_of(of.at[i]) >= 0) != is_of_ids) { return; }
    rows.axes[place] = {values.axes[place].extent, step};
    step = times(step, values.axes[place].extent);
  };
  for (std::size_t i = result.size; i-- > 0;) { add(result, i, false); }
  for (std::size_t i = id_axes.size; i-- > 0;) { add(id_axes, i, true); }
  rows.buffer.resize(static_cast<std::size_t>(step));
  rows.data = rows.buffer.data();
  copy_axes<C>(names.size, values.axes, rows.axes, values.axes, rows.buffer.data(), values.data);
  return rows;
}

// write(loops, data, values, ids): into a buffer first, where the destination does not have the dimension as one axis.
// `by_rows`: values of which a row is not contiguous are copied.
template <class C, class Write>
void scatter_record(walk& w, const record<C>& r, target<C> to, bool by_rows, const Write& write) {
  const auto& facts = r.template facts_as<id_facts_of_record>();
  const record<C>& of_values = *r.child[0];
  auto values = read_record(w, of_values);
  const auto ids = facts.read(w, r.node);
  lowered<C> aside;
  const bool is_one = one_axis(r.shape->axes, facts.dimension).is_one(to.axes);
  if (!is_one) { aside = make_buffer(w, r); }
  const target<C> in = is_one ? to : target_of(aside);
  const auto loops = [&] {
    return scatter_loops(r.shape->axes, in.axes, facts.dimension, of_values.shape->axes, values.axes, facts.id_axes,
                         ids.axes);
  };
  if (by_rows && w.computes() && !is_contiguous_row(loops().row)) {
    values = in_rows(values, of_values.shape->axes, r.shape->axes, facts.id_axes);
  }
  write(loops(), in.data, values.data, ids.data);
  if (!is_one && w.computes()) { copy_axes<C>(r.rank(), aside.axes, to.axes, aside.axes, to.data, aside.data); }
}
template <class C>
void write_scattered(walk& w, const record<C>& r, target<C> to) {
  const auto& facts = r.template facts_as<id_facts_of_record>();
  scatter_record(w, r, to, false, [&](const scatter_loops& loops, C* data, const C* values, const std::size_t* ids) {
    note(w, plan_kind::plain, r);
    if (w.computes()) { scatter(loops, facts.name, data, values, ids); }
  });
}

DIMWISE_DETAIL_COMPILED(write_gathered)
DIMWISE_DETAIL_COMPILED(write_scattered)

}  // namespace dimwise::detail
