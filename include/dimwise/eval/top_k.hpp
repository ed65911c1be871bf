// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/top_k.hpp -- top_k: the largest elements along a dimension, and their ids.
//
// Layer: eval: it gives two tensors at once, so it computes at once.
// Tests: tests/eval/top_k.test.cpp
#pragma once

#include <algorithm>
#include <numeric>

#include <dimwise/eval/evaluate.hpp>

namespace dimwise {

/// The largest elements in falling order, and where they stood.
template <class Values, class Ids>
struct top_k_result {
  Values values;
  Ids ids;
};

namespace detail {

template <class T, class Shape>
struct tensor_over;
template <class T, class... D>
struct tensor_over<T, shape<D...>> {
  using type = tensor<T, D...>;
};
template <class T, class Shape>
using tensor_over_t = typename tensor_over<T, Shape>::type;

}  // namespace detail

/// The |Best| largest elements along D in falling order, the first of equals first, with their ids; NaN counts as largest.
///
///   auto [values, ids] = top_k<vocab, best>(x);      [D, rest]  ->  [Best, rest], and id<D> over the same
///
/// Refuses dimensions that are neither attendable nor a choice (R13), more than there are (R18; `extent_error` at run time).
template <class D, class Best, operand X, class Verdict = rule::top_k<D, Best, detail::shape_of<X>>>
  requires allowed<Verdict>
[[nodiscard]] auto top_k(const X& x, const Best& best = Best{}) {
  using namespace detail;
  using T = value_of<X>;
  using shape = stored_t<typename Verdict::shape>;
  using Values = tensor_over_t<T, shape>;
  using Ids = tensor_over_t<id<D>, make_shape_t<dims_t<shape>, list<>>>;
  using axes = axes_for<shape>;
  const extent_t n = x.extents().template extent<D>();
  if (best.extent() > n) {
    raise<extent_error>(error{} << "top_k: the " << best.extent() << " largest were asked of dimension " << dimension_name<D>() << " of extent " << n << " (R18)");
  }
  extents_of<list<Best>> added;
  added.set(best);
  const auto e = carry<typename Values::extents_type::atoms>("top_k", added, x.extents());
  top_k_result<Values, Ids> result{Values::for_overwriting(e), Ids::for_overwriting(carry<typename Ids::extents_type::atoms>("top_k", e))};
  const auto from = lower<T>(x);
  axis to[max_rank];
  axis_extents<axes>::write(e, to);
  make_contiguous(to, axes::size);
  const axis along = from.axes[index_in<D, axes_for<shape_of<X>>>];
  const axis along_best = to[index_in<Best, axes>];
  const row_loops<axes, axes_for<shape_of<X>>, list<D>> loops(to, from.axes);
  aligned_vector<std::size_t> order(n);
  T* values = result.values.overwrite();
  id<D>* ids = result.ids.overwrite();
  kernels::for_each_element(loops.outside, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto at = [&](std::size_t i) { return from.data[f + static_cast<std::ptrdiff_t>(i) * along.stride]; };
    const auto before = [&](std::size_t i, std::size_t j) {
      const T a = at(i);
      const T b = at(j);
      const bool a_nan = a != a;
      const bool b_nan = b != b;
      if (a_nan || b_nan) { return a_nan != b_nan ? a_nan : i < j; }
      return a != b ? a > b : i < j;
    };
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(best.extent()), order.end(), before);
    for (std::size_t i = 0; i < best.extent(); ++i) {
      const std::ptrdiff_t place = t + static_cast<std::ptrdiff_t>(i) * along_best.stride;
      values[place] = at(order[i]);
      ids[place] = id<D>(order[i]);
    }
  });
  return result;
}
template <class D, class Best, operand X, class Verdict = rule::top_k<D, Best, detail::shape_of<X>>>
  requires refused<Verdict>
Verdict top_k(const X& x, const Best& best = Best{});

}  // namespace dimwise
