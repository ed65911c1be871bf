// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/product.hpp -- any contraction of float or double as matrix products.
//
// Layer: eval. Axes of one operand become rows, axes of the other columns, what both share is a list of products.
// Tests: tests/eval/plan/plan.test.cpp
#pragma once

#include <dimwise/eval/kernels/elements.hpp>
#include <dimwise/eval/loops/product.hpp>
#include <dimwise/support/library.hpp>

#include <utility>

namespace dimwise::detail {

// The cost of the scalar path, in multiply-adds: a sum begins and ends at the price of eight. Less than `least_product`
// they have done before a kernel has begun.
inline constexpr std::size_t least_product = 288;

constexpr std::size_t plain_work(const product_form& form, const axis* a, const axis* result) {
  std::size_t sums = 1;
  std::size_t numbers = 1;
  for (std::size_t i = 0; i < form.rank; ++i) { sums = saturating_product(sums, result[i].extent); }
  for (std::size_t i = 0; i < form.sums; ++i) { numbers = saturating_product(numbers, a[form.a.along_sums[i]].extent); }
  return numbers == 0 ? 0 : saturating_product(sums, numbers < least_product ? numbers + 8 : numbers);
}

// Axes of the result and of both operands, by what they are to a product.
struct product_axes {
  kernels::loop_nest<2> rows{};     // result, a
  kernels::loop_nest<2> columns{};  // result, b
  kernels::loop_nest<2> sums{};     // a, b
  kernels::loop_nest<3> shared{};   // result, a, b
};

constexpr product_axes sort_axes(const product_form& form, const axis* a, const axis* b, const axis* to) {
  product_axes axes;
  for (std::size_t i = 0; i < form.rank; ++i) {
    const std::size_t n = to[i].extent;
    const short in_a = form.a.along_result[i];
    const short in_b = form.b.along_result[i];
    if (in_a >= 0 && in_b >= 0) {
      axes.shared.add(n, {to[i].stride, a[in_a].stride, b[in_b].stride});
    } else if (in_a >= 0) {
      axes.rows.add(n, {to[i].stride, a[in_a].stride});
    } else {
      axes.columns.add(n, {to[i].stride, b[in_b].stride});
    }
  }
  for (std::size_t i = 0; i < form.sums; ++i) {
    const axis& x = a[form.a.along_sums[i]];
    axes.sums.add(x.extent, {x.stride, b[form.b.along_sums[i]].stride});
  }
  return axes;
}

// Loops over a group of axes, the innermost taken out for the kernel.
struct group_axis {
  std::size_t extent = 1;
  std::ptrdiff_t stride[2] = {0, 0};
};
constexpr group_axis take_innermost(kernels::loop_nest<2>& nest) {
  if (nest.rank == 0) { return {}; }
  --nest.rank;
  return {nest.extent[nest.rank], {nest.stride[0][nest.rank], nest.stride[1][nest.rank]}};
}

// The matrices of one product, a list of such products, and sums that go on from one to the next.
template <class T>
struct product_plan_of {
  kernels::product_call_of<T> call{};
  kernels::loop_nest<3> problems{};  // result, a, b
  kernels::loop_nest<2> sums{};      // a, b
  bool exchanged = false;            // C' = B' A': columns of the result must be contiguous
};

using product_plan = product_plan_of<float>;

template <class T = float>
constexpr product_plan_of<T> plan_product(product_axes axes) {
  product_plan_of<T> plan;
  const group_axis m = take_innermost(axes.rows);
  const group_axis n = take_innermost(axes.columns);
  const group_axis k = take_innermost(axes.sums);
  for (std::size_t i = 0; i < axes.rows.rank; ++i) {
    axes.shared.add(axes.rows.extent[i], {axes.rows.stride[0][i], axes.rows.stride[1][i], 0});
  }
  for (std::size_t i = 0; i < axes.columns.rank; ++i) {
    axes.shared.add(axes.columns.extent[i], {axes.columns.stride[0][i], 0, axes.columns.stride[1][i]});
  }
  plan.problems = axes.shared;
  plan.sums = axes.sums;
  kernels::product_call_of<T>& call = plan.call;
  call.m = m.extent;
  call.n = n.extent;
  call.k = k.extent;
  call.a_row = m.stride[1];
  call.a_column = k.stride[0];
  call.b_row = k.stride[1];
  call.b_column = n.stride[1];
  call.c_row = m.stride[0];
  call.c_column = n.stride[0];
  call.count = plan.problems.size();
  plan.exchanged = call.c_column != 1 && (call.c_row == 1 || call.n == 1);
  if (plan.exchanged) {
    std::swap(call.m, call.n);
    std::swap(call.a_row, call.b_column);
    std::swap(call.a_column, call.b_row);
    std::swap(call.c_row, call.c_column);
  }
  // A stride along an extent of 1 means nothing.
  if (call.n == 1) { call.b_column = call.c_column = 1; }
  return plan;
}

template <class T>
using product_kernel = decltype(kernels::element_table<T>::product);
// By `kernel`, which is named where it is used; `residual` has the layout of c, the plan's epilogue says what is done
// with it.
template <class T>
void run_product(context& cx, const product_plan_of<T>& plan, const lowered<T>& left, const lowered<T>& right, T* c,
                 product_kernel<T> kernel, const T* residual = nullptr);

// Whether values that the scalar path leaves out, those of the score −∞ and those that a zero of a gradient meets, may
// have spoiled a product: both the values and the result are not finite. The smaller is looked at first, so that a
// product of many sums pays next to nothing.
template <class T>
bool may_be_spoiled(const product_form& form, const lowered<T>& a, const lowered<T>& b, target<T> to);
// Whether the kernel is worth its beginning: there is enough to sum.
constexpr bool product_fits(const product_form& form, const axis* a, const axis* to) {
  return plain_work(form, a, to) >= least_product;
}
// The product by the kernel, and by the scalar path where it ends before a kernel has begun, and where a hidden
// value may have spoiled the kernel's result.
template <class T>
void compute_product(context& cx, const product_form& form, target<T> to, const lowered<T>& a, const lowered<T>& b);

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/kernels/product_definitions.hpp>
#endif

#if DIMWISE_DETAIL_HAS_LIBRARY
namespace dimwise::detail {
DIMWISE_DETAIL_LIBRARY_TEMPLATE void run_product<float>(context&, const product_plan&, const lowered<float>&,
                                                        const lowered<float>&, float*, product_kernel<float>,
                                                        const float*);
DIMWISE_DETAIL_LIBRARY_TEMPLATE bool may_be_spoiled<float>(const product_form&, const lowered<float>&,
                                                           const lowered<float>&, target<float>);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_product<float>(context&, const product_form&, target<float>,
                                                            const lowered<float>&, const lowered<float>&);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_product<double>(context&, const product_form&, target<double>,
                                                             const lowered<double>&, const lowered<double>&);
}  // namespace dimwise::detail
#endif
