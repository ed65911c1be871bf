// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/fast_rows.hpp -- the row plan: softmax and norms of rows that lie contiguous in memory.
//
// Layer: eval.
// Tests: tests/eval/plan.test.cpp
#pragma once

#include <dimwise/eval/execution.hpp>
#include <dimwise/eval/plain.hpp>

namespace dimwise::detail {

template <class How>
inline constexpr bool has_row_kernel = !std::is_same_v<How, rows::renormalise> && !std::is_same_v<How, rows::scan>;

template <class How>
void call_rows(const kernels::table& table, const kernels::rows_call& call) {
  if constexpr (std::is_same_v<How, rows::softmax>) {
    table.softmax(call);
  } else if constexpr (std::is_same_v<How, rows::log_softmax>) {
    table.log_softmax(call);
  } else if constexpr (std::is_same_v<How, rows::standardize>) {
    table.standardize(call);
  } else {
    table.root_mean_square(call);
  }
}

// True when the rows were contiguous and are done.
template <class How, class Loops>
bool rows_by_kernel(const Loops& loops, float* to, const float* from, float hidden, float epsilon) {
  if (loops.inside.rank != 1 || loops.inside.stride[0][0] != 1 || loops.inside.stride[1][0] != 1) { return false; }
  const kernels::table& table = kernels::active();
  count_plan(plan_kind::rows);
  kernels::for_each_row(loops.outside, [&](const std::ptrdiff_t(&o)[2], std::size_t n, const std::ptrdiff_t(&s)[2]) {
    kernels::rows_call call;
    call.rows = n;
    call.n = loops.inside.extent[0];
    call.in = from + o[1];
    call.in_row = s[1];
    call.out = to + o[0];
    call.out_row = s[0];
    call.hidden = hidden;
    call.epsilon = epsilon;
    call_rows<How>(table, call);
  });
  return true;
}

}  // namespace dimwise::detail
