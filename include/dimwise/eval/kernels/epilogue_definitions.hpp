// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/epilogue_definitions.hpp -- products with a bias, an activation and a residual.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/eval/plan/plan.test.cpp
#pragma once

#include <dimwise/eval/kernels/epilogue.hpp>

namespace dimwise::detail {

// A function of elements in their own memory, whatever their strides.
inline void map_in_place(kernels::function f, std::size_t rank, target<float> to) {
  std::ptrdiff_t strides[1][max_rank] = {};
  for (std::size_t i = 0; i < rank; ++i) { strides[0][i] = to.axes[i].stride; }
  const kernels::active_kernels& table = kernels::active();
  kernels::for_each_row(nest_over(rank, to.axes, strides),
                        [&](const std::ptrdiff_t(&o)[1], std::size_t n, const std::ptrdiff_t(&s)[1]) {
    float* const x = to.data + o[0];
    if (s[0] == 1) { return table.map(f, n, x, x); }
    for (std::size_t i = 0; i < n; ++i) {
      float* const one = x + static_cast<std::ptrdiff_t>(i) * s[0];
      table.map(f, 1, one, one);
    }
  });
}

DIMWISE_DETAIL_LIBRARY bool lies_like(std::size_t rank, const axis* to, const std::ptrdiff_t* strides) {
  for (std::size_t i = 0; i < rank; ++i) {
    if (to[i].extent > 1 && to[i].stride != strides[i]) { return false; }
  }
  return true;
}

DIMWISE_DETAIL_LIBRARY bool is_row_of(std::size_t rank, const axis* extents, const std::ptrdiff_t* strides,
                                      std::size_t columns, const short* rows) {
  std::ptrdiff_t next = 1;
  for (std::size_t i = rank; i-- > 0;) {
    if (extents[i].extent == 1) { continue; }
    const bool in_columns = rows[i] < 0;
    if (strides[i] != (in_columns ? next : 0)) { return false; }
    if (in_columns) { next = times(next, extents[i].extent); }
  }
  return next == static_cast<std::ptrdiff_t>(columns);
}

DIMWISE_DETAIL_LIBRARY void finish_apart(std::size_t rank, const chain_steps& steps, target<float> to) {
  if (steps.has_bias) { update(rank, to, steps.bias_strides, steps.bias.data, fn::add{}); }
  if (steps.activation != kernels::function::none) { map_in_place(steps.activation, rank, to); }
  if (steps.has_residual) { update(rank, to, steps.residual_strides, steps.residual.data, fn::add{}); }
}

DIMWISE_DETAIL_LIBRARY bool multiply_and_finish(context& cx, const product_form& form, target<float> to,
                                                const lowered<float>& a, const lowered<float>& b,
                                                const chain_steps& steps) {
  product_plan plan = plan_product(sort_axes(form, a.axes, b.axes, to.axes));
  const bool at_once = plan.sums.rank == 0;
  const bool bias_fits =
      !steps.has_bias || (at_once && plan.call.count == 1 &&
                          is_row_of(form.rank, to.axes, steps.bias_strides, plan.exchanged ? plan.call.m : plan.call.n,
                                    form.a.along_result));
  const bool residual_fits = !steps.has_residual || (at_once && lies_like(form.rank, to.axes, steps.residual_strides));
  if (bias_fits && residual_fits && at_once) {
    kernels::product_epilogue& e = plan.call.epilogue;
    (plan.exchanged ? e.row_bias : e.column_bias) = steps.bias.data;
    e.activation = steps.activation;
    e.residual = steps.has_residual;
    plan.call.residual_row = plan.call.c_row;
    plan.call.residual_column = plan.call.c_column;
    run_product(cx, plan, a, b, to.data, kernels::active().product_with_epilogue, steps.residual.data);
  } else {
    run_product(cx, plan, a, b, to.data, kernels::active().product);
    finish_apart(form.rank, steps, to);
  }
  return !may_be_spoiled(form, a, b, to);
}

}  // namespace dimwise::detail
