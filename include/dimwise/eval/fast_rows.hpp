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

// Whether the kernel takes rows with these loops.
template <class Loops>
bool rows_fit(const Loops& loops) {
  return loops.inside.rank == 1 && loops.inside.stride[0][0] == 1 && loops.inside.stride[1][0] == 1;
}

// For loops that fit.
template <class How, class Loops>
void rows_by_kernel(const Loops& loops, float* to, const float* from, float hidden, float epsilon,
                    const float* gamma = nullptr, const float* beta = nullptr) {
  const kernels::table& table = kernels::active();
  count_plan(plan_kind::rows);
  kernels::rows_call call;
  call.n = loops.inside.extent[0];
  call.hidden = hidden;
  call.epsilon = epsilon;
  call.gamma = gamma;
  call.beta = beta;
  const std::size_t rows_of_part = call.n >= part_elements ? 1 : part_elements / call.n;
  kernels::for_each_row(loops.outside, [&](const std::ptrdiff_t(&o)[2], std::size_t n, const std::ptrdiff_t(&s)[2]) {
    in_parts(n, rows_of_part, [&](std::size_t begin, std::size_t end) {
      kernels::rows_call part = call;
      part.rows = end - begin;
      part.in = from + o[1] + static_cast<std::ptrdiff_t>(begin) * s[1];
      part.in_row = s[1];
      part.out = to + o[0] + static_cast<std::ptrdiff_t>(begin) * s[0];
      part.out_row = s[0];
      call_rows<How>(table, part);
    });
  });
}

}  // namespace dimwise::detail
