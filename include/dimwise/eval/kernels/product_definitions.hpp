// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/product_definitions.hpp -- products by the kernel.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/eval/plan/plan.test.cpp
#pragma once

#include <dimwise/eval/kernels/packed_weights_definitions.hpp>
#include <dimwise/eval/kernels/product.hpp>

namespace dimwise::detail {

template <class T>
void run_product(context& cx, const product_plan_of<T>& plan, const lowered<T>& left, const lowered<T>& right, T* c,
                 product_kernel<T> kernel, const T* residual) {
  kernels::product_call_of<T> call = plan.call;
  if (call.count == 0 || call.m == 0 || call.n == 0) { return; }
  aligned_vector<typename kernels::product_call_of<T>::pointers> problems(call.count);
  std::size_t at = 0;
  kernels::for_each_row(plan.problems, [&](const std::ptrdiff_t(&o)[3], std::size_t many, const std::ptrdiff_t(&s)[3]) {
    for (std::size_t i = 0; i < many; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      const T* x = left.data + o[1] + j * s[1];
      const T* y = right.data + o[2] + j * s[2];
      T* z = c + o[0] + j * s[0];
      problems[at++] = {plan.exchanged ? y : x, plan.exchanged ? x : y, z,
                        residual == nullptr ? nullptr : residual + (z - c)};
    }
  });
  call.problems = problems.data();
  const auto& table = kernels::active_for<T>();
  if (plan.sums.rank == 0 && table.product_small(call)) { return; }
  aligned_vector<unsigned char> memory = scratch(table.product_bytes(call, cx.runner().worker_count()));
  if (call.count == 1 && plan.sums.rank == 0) {
    call.packed_b = packed_or_none<T>(table, call, plan.exchanged ? left.derived : right.derived);
  }
  bool first = true;
  kernels::for_each_row(plan.sums, [&](const std::ptrdiff_t(&o)[2], std::size_t many, const std::ptrdiff_t(&s)[2]) {
    std::ptrdiff_t moved[2] = {o[0], o[1]};
    for (std::size_t i = 0; i < many; ++i) {
      aligned_vector<typename kernels::product_call_of<T>::pointers> here;
      kernels::product_call_of<T> part = call;
      if (moved[0] != 0 || moved[1] != 0) {
        here = problems;
        for (auto& p : here) {
          p.a += plan.exchanged ? moved[1] : moved[0];
          p.b += plan.exchanged ? moved[0] : moved[1];
        }
        part.problems = here.data();
      }
      part.onto = !first;
      kernel(part, memory.data(), cx.runner());
      first = false;
      moved[0] += s[0];
      moved[1] += s[1];
    }
  });
}

inline extent_t count_of(std::size_t rank, const axis* axes) {
  extent_t n = 1;
  for (std::size_t i = 0; i < rank; ++i) { n *= axes[i].extent; }
  return n;
}

template <class T>
bool may_be_spoiled(const product_form& form, const lowered<T>& a, const lowered<T>& b, target<T> to) {
  const bool left_out_of_a = a.hides || form.a.leaves_out != kernels::left_out::nothing;
  const bool left_out_of_b = b.hides || form.b.leaves_out != kernels::left_out::nothing;
  if (!left_out_of_a && !left_out_of_b) { return false; }
  if (left_out_of_a && left_out_of_b) { return !all_finite(form.rank, to.axes, to.data); }
  const lowered<T>& values = left_out_of_a ? b : a;
  const std::size_t rank = left_out_of_a ? form.b.rank : form.a.rank;
  const auto finite_values = [&] { return all_finite(rank, values.axes, values.data); };
  const auto finite_result = [&] { return all_finite(form.rank, to.axes, to.data); };
  return count_of(rank, values.axes) < count_of(form.rank, to.axes) ? !finite_values() && !finite_result()
                                                                    : !finite_result() && !finite_values();
}
template <class T>
void compute_product(context& cx, const product_form& form, target<T> to, const lowered<T>& a, const lowered<T>& b) {
  if (!cx.reference_forced() && product_fits(form, a.axes, to.axes)) {
    cx.count(plan_kind::product);
    run_product(cx, plan_product<T>(sort_axes(form, a.axes, b.axes, to.axes)), a, b, to.data,
                kernels::active_for<T>().product);
    if (!may_be_spoiled(form, a, b, to)) { return; }
  }
  cx.count(plan_kind::plain);
  product_loops(form, to, a, b);
}

}  // namespace dimwise::detail
