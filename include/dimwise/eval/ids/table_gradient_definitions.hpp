// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/ids/table_gradient_definitions.hpp -- the gradient of a table of which rows were read by ids: by a
// kernel where rows are contiguous, else by the reference loops.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/grad/training/kernels.test.cpp
#pragma once

#include <dimwise/eval/ids/by_ids_definitions.hpp>
#include <dimwise/eval/kernels/backward.hpp>
#include <dimwise/kernels/dispatch/active_gradients.hpp>

namespace dimwise::detail {

// Whether the kernel takes rows that are added to one table.
inline bool scatter_rows_fit(const scatter_loops& loops) {
  for (std::size_t i = 0; i < loops.ids.rank; ++i) {
    if (loops.ids.stride[0][i] != 0) { return false; }  // rows of several tables
  }
  return is_contiguous_row(loops.row);
}
// Rows of a table's gradient, each where its id says.
template <class C>
void scatter_rows(context& cx, const scatter_loops& loops, name_of name, C* to, const C* values,
                  const std::size_t* ids) {
  fill_zero(loops.all, to);
  if (loops.ids.empty()) { return; }
  check_ids(loops.ids, ids, loops.along.extent, name);
  kernels::scatter_call_of<C> call;
  call.n = loops.row.extent[0];
  call.out = to;
  const aligned_vector<added_row> sorted = rows_of_long_sums(loops.ids, ids, loops.along);
  if (!sorted.empty()) {
    call.rows = sorted.size();
    call.in = values;
    call.pairs = sorted.data();
    return kernels::active_gradients_for<C>().scatter_add(call, cx.runner());
  }
  call.out_row = loops.along.stride;
  kernels::for_each_row(loops.ids, [&](const std::ptrdiff_t(&o)[3], std::size_t count, const std::ptrdiff_t(&s)[3]) {
    call.rows = count;
    call.ids = ids + o[2];
    call.id_step = s[2];
    call.in = values + o[1];
    call.in_row = s[1];
    kernels::active_gradients_for<C>().scatter_add(call, cx.runner());
  });
}

template <class C>
void write_table_gradient(walk& w, const record<C>& r, target<C> to) {
  const auto& facts = r.template facts_as<id_facts_of_record>();
  const bool by_rows = r.has_kernels && !w.cx.reference_forced();
  scatter_record(w, r, to, by_rows, [&](const scatter_loops& loops, C* data, const C* values, const std::size_t* ids) {
    if (by_rows && scatter_rows_fit(loops)) {
      note(w, plan_kind::rows, r);
      if (w.computes()) { scatter_rows(w.cx, loops, facts.name, data, values, ids); }
      return;
    }
    note(w, plan_kind::plain, r);
    if (w.computes()) { scatter(loops, facts.name, data, values, ids); }
  });
}

DIMWISE_DETAIL_COMPILED(write_table_gradient)

}  // namespace dimwise::detail
