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
DIMWISE_DETAIL_RECORD(chained, other)
// The gradient of an operand of `node`, a record of several ones, times the partial derivative; index: which operand.
DIMWISE_DETAIL_RECORD(partial, other)
// The gradient of rows, from what arrives and the rows.
DIMWISE_DETAIL_RECORD_OF(rows_back, record_kind::other)
// The same of totals. Index: whether the elements are masked.
DIMWISE_DETAIL_RECORD_OF(total_back, record_kind::other)
// The gradient of the operand of a view, which is `node`: what was read more than once is added up, what was not is 0.
DIMWISE_DETAIL_RECORD(view_back, other)
// The gradient of a table of which rows were read by ids: what arrives, added up.
DIMWISE_DETAIL_RECORD(table_gradient, other)

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
