// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/gradient_sum_definitions.hpp -- sums of gradients by kernels or loops.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/grad/operations/products.test.cpp
#pragma once

#include <dimwise/eval/gradient_sum.hpp>

namespace dimwise::detail {

// The types of an adjoint say which axes meet, and not that their extents are the same.
inline void check_gradient_extent(extent_t here, extent_t there) {
  if (here != there) {
    raise<extent_error>(error{} << "gradient: an adjoint gives an extent of " << there << " where " << here
                                << " is expected (R15)");
  }
}

template <class T>
void add_gradients(context& cx, std::size_t n, std::size_t given, T* to, const T* a, const T* b) {
  check_gradient_extent(n, given);
#if !defined(DIMWISE_PLAIN_ONLY)
  if (!cx.reference_forced() && n >= least_row) {
    cx.count(plan_kind::map);
    return in_parts(cx, n, part_elements, [&](std::size_t begin, std::size_t end) {
      kernels::active_for<T>().zip(kernels::operation::add, end - begin, a + begin, 1, b + begin, 1, to + begin);
    });
  }
#endif
  cx.count(plan_kind::plain);
  for (std::size_t i = 0; i < n; ++i) { to[i] = a[i] + b[i]; }
}

// to = onto + what `compute` writes: into a buffer of the order of the axes, whatever the strides of `to` are, so that
// the bits do not depend on them.
template <class T, class Compute>
void add_apart(context& cx, std::size_t rank, target<T> to, const T* onto, const Compute& compute) {
  axis apart[max_rank];
  std::ptrdiff_t strides[2][max_rank] = {};
  std::size_t n = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    apart[i] = to.axes[i];
    n *= to.axes[i].extent;
  }
  make_contiguous(apart, rank);
  aligned_vector<T> buffer(n);
  compute(target<T>{buffer.data(), apart});
  for (std::size_t i = 0; i < rank; ++i) {
    strides[0][i] = to.axes[i].stride;
    strides[1][i] = apart[i].stride;
  }
  kernels::copy(nest_over(rank, to.axes, strides), to.data, buffer.data());
  add_gradients(cx, n, n, to.data, onto, static_cast<const T*>(to.data));
}

inline void check_gradient_product(const product_form& form, const axis* to, const axis* a, const axis* b) {
  const auto& same = check_gradient_extent;
  for (std::size_t i = 0; i < form.rank; ++i) {
    if (const short at = form.a.along_result[i]; at >= 0) { same(to[i].extent, a[at].extent); }
    if (const short at = form.b.along_result[i]; at >= 0) { same(to[i].extent, b[at].extent); }
  }
  for (std::size_t i = 0; i < form.sums; ++i) { same(a[form.a.along_sums[i]].extent, b[form.b.along_sums[i]].extent); }
}

template <class T>
void compute_product_onto(context& cx, const void* form_of_product, std::size_t rank, target<T> to, const lowered<T>& a,
                          const lowered<T>& b, const T* onto) {
  const product_form& form = *static_cast<const product_form*>(form_of_product);
  check_gradient_product(form, to.axes, a.axes, b.axes);
  const auto product = [&](target<T> into) {
#if defined(DIMWISE_PLAIN_ONLY)
    cx.count(plan_kind::plain);
    product_loops(form, into, a, b);
#else
    compute_product(cx, form, into, a, b);
#endif
  };
  if (onto == nullptr) { return product(to); }
#if !defined(DIMWISE_PLAIN_ONLY)
  if constexpr (std::is_same_v<T, float>) {
    if (!cx.reference_forced() && product_fits(form, a.axes, to.axes)) {
      chain_steps steps;
      steps.residual.data = onto;
      steps.has_residual = true;
      for (std::size_t i = 0; i < form.rank; ++i) { steps.residual_strides[i] = to.axes[i].stride; }
      cx.count(plan_kind::product);
      if (multiply_and_finish(cx, form, to, a, b, steps)) { return; }
    }
  }
#endif
  // A product that is tiny, of double, or recomputed because a gradient of 0 met what is not finite.
  add_apart(cx, rank, to, onto, product);
}

template <class T>
void compute_sum_onto(context& cx, const void* form_of_sum, std::size_t rank, target<T> to, const lowered<T>& g,
                      const lowered<T>&, const T* onto) {
  const rows_form& form = *static_cast<const rows_form*>(form_of_sum);
  const auto sum = [&](target<T> into) {
#if defined(DIMWISE_PLAIN_ONLY)
    cx.count(plan_kind::plain);
    fold_row_by_row<totals::sum, T, false>(form.loops(into.axes, g.axes), into.data, g.data);
#else
    compute_fold<totals::sum>(cx, form, into, g);
#endif
  };
  if (onto == nullptr) { return sum(to); }
  add_apart(cx, rank, to, onto, sum);
}

}  // namespace dimwise::detail
