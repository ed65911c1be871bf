// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/backward.hpp -- the nodes of the backward pass: records of rows, reductions, views and tables.
//
// Layer: eval. Programs that do not train do not include it.
// Tests: tests/grad/plan.test.cpp
#pragma once

#include <dimwise/eval/loops/backward.hpp>
#include <dimwise/eval/records/form.hpp>
#include <dimwise/expr/backward.hpp>

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
// The gradient of a table of which rows were read by ids: what arrives, added up.
template <class C>
void write_table_gradient(walk& w, const record<C>& r, target<C> to);

namespace records {
template <class C>
inline constexpr record_operation<C> table_gradient = {record_kind::other, nullptr, &write_table_gradient<C>};
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

template <class Shape, class D, class Values, class Ids>
inline constexpr bool has_operation<gather_back_node<Shape, D, Values, Ids>> = true;
template <class D, class Shape, class T, class Values, class Ids>
inline constexpr std::size_t records_below<node<gather_back<D>, Shape, T, Values, Ids>> = records_in<Values>;
template <class Pass, class C, class N, class D>
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n,
                                                  const gather_back<D>&) {
  form_by_ids<Pass, C, D>(all, r, n, records::table_gradient<C>);
}

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/kernels/backward_definitions.hpp>
#endif
