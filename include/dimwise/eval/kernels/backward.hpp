// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/backward.hpp -- the nodes of the backward pass: records of rows, reductions and views, and the
// gradient of a table by a kernel.
//
// Layer: eval. Programs that do not train do not include it.
// Tests: tests/grad/plan.test.cpp
#pragma once

#include <dimwise/eval/loops/backward.hpp>
#include <dimwise/eval/records/form.hpp>
#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/kernels/elements.hpp>
#include <dimwise/kernels/dispatch/active_gradients.hpp>
#endif

namespace dimwise::detail {

// ---- records -------------------------------------------------------------------------------------------------------

// The gradient times the derivative of a function, whose code is the index: of what arrives and the function's operand.
template <class C>
void write_chained(walk& w, const record<C>& r, target<C> to);
// The gradient of an operand of `node`, a record of several ones, times the partial derivative; index: which operand.
template <class C>
void write_partial(walk& w, const record<C>& r, target<C> to);
// The gradient of rows, from what arrives and the rows. Facts: the axes that they go over.
template <class C, class How>
void write_rows_back(walk& w, const record<C>& r, target<C> to);
// The same of totals. Index: whether the elements are masked.
template <class C, class How>
void write_total_back(walk& w, const record<C>& r, target<C> to);
// The gradient of the operand of a view, which is `node`: what was read more than once is added up, what was not is 0.
template <class C>
void write_view_back(walk& w, const record<C>& r, target<C> to);

namespace records {
template <class C>
inline constexpr record_operation<C> chained = {record_kind::other, nullptr, &write_chained<C>};
template <class C>
inline constexpr record_operation<C> partial = {record_kind::other, nullptr, &write_partial<C>};
template <class C, class How>
inline constexpr record_operation<C> rows_back = {record_kind::other, nullptr, &write_rows_back<C, How>};
template <class C, class How>
inline constexpr record_operation<C> total_back = {record_kind::other, nullptr, &write_total_back<C, How>};
template <class C>
inline constexpr record_operation<C> view_back = {record_kind::other, nullptr, &write_view_back<C>};
}  // namespace records

#if !defined(DIMWISE_PLAIN_ONLY)

// ---- ids -----------------------------------------------------------------------------------------------------------

// Whether the kernel takes rows that are added to one table.
inline bool scatter_rows_fit(const kernels::loop_nest<3>& ids, const kernels::loop_nest<2>& row) {
  for (std::size_t i = 0; i < ids.rank; ++i) {
    if (ids.stride[0][i] != 0) { return false; }  // rows of several tables
  }
  return row.rank == 1 && row.stride[0][0] == 1 && row.stride[1][0] == 1;
}
// Rows of a table's gradient, each where its id says. A template, as in `check_ids`.
template <std::size_t K>
void scatter_rows(context& cx, const kernels::loop_nest<1>& all, const kernels::loop_nest<K>& nest,
                  const kernels::loop_nest<2>& row, const axis& along, name_of name, float* to, const float* values,
                  const std::size_t* ids) {
  fill_zero(all, to);
  if (nest.empty()) { return; }
  check_ids(nest, ids, along.extent, name);
  kernels::scatter_call call;
  call.n = row.extent[0];
  call.out = to;
  const aligned_vector<added_row> sorted = rows_of_long_sums(nest, ids, along);
  if (!sorted.empty()) {
    call.rows = sorted.size();
    call.in = values;
    call.pairs = sorted.data();
    return kernels::active_gradients().scatter_add(call, cx.runner());
  }
  call.out_row = along.stride;
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[K], std::size_t count, const std::ptrdiff_t(&s)[K]) {
    call.rows = count;
    call.ids = ids + o[2];
    call.id_step = s[2];
    call.in = values + o[1];
    call.in_row = s[1];
    kernels::active_gradients().scatter_add(call, cx.runner());
  });
}

// A strategy: rows of a table's gradient, each where its id says.
template <class D, class Shape, class T, class Values, class Ids>
struct by_kernel<node<gather_back<D>, Shape, T, Values, Ids>>
    : kernel_or_loops<by_kernel<node<gather_back<D>, Shape, T, Values, Ids>>> {
  using N = node<gather_back<D>, Shape, T, Values, Ids>;
  static constexpr bool matches = is_float<Values>;
  static constexpr plan_kind kind = plan_kind::rows;

  template <class Lowered>
  static bool fits(const N& n, const axis* to, const Lowered& x) {
    if (!one_axis<D, axes_for<Shape>>::is_one(to)) { return false; }
    const scatter_loops<N> loops(n, to, x);
    return scatter_rows_fit(loops.ids, loops.row);
  }
  template <class Lowered>
  static void run(context& cx, const N& n, target<float> to, const Lowered& x) {
    const scatter_loops<N> loops(n, to.axes, x);
    scatter_rows(cx, loops.all, loops.ids, loops.row, loops.along, &dimension_name<D>, to.data, child_in<0>(x).data,
                 numbers_of(child_in<1>(x).data));
  }
};

#if DIMWISE_DETAIL_HAS_LIBRARY
DIMWISE_DETAIL_LIBRARY_TEMPLATE void scatter_rows<3>(context&, const kernels::loop_nest<1>&,
                                                     const kernels::loop_nest<3>&, const kernels::loop_nest<2>&,
                                                     const axis&, name_of, float*, const float*, const std::size_t*);
#endif

#endif

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/kernels/backward_definitions.hpp>
#endif
