// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops_product.hpp -- the reference loops of products.
//
// Layer: eval. Hidden weights (−0) leave the values beside them out.
// Tests: tests/expr/contract.test.cpp
#pragma once

#include <dimwise/eval/pass.hpp>
#include <dimwise/expr/contract.hpp>

namespace dimwise::detail {

// The axes of a product's result as its operands call them: out<D> is not renamed yet.
template <class N>
struct product_result;
template <class Shape, class Over, class A, class B>
struct product_result<contraction<Shape, Over, A, B>> {
  using type = axes_of_list_t<typename product_facts<Over, list<>, shape_of<A>, shape_of<B>>::result>;
};
template <class N>
using product_result_t = typename product_result<N>::type;

// Σ over `Over` of a · b; `SkipHidden`: a are weights.
template <bool SkipHidden, class N, class Over, class A, class B, class C, class Summed>
void product_loops(const N& n, target<C> to, const lowered<C>& a, const lowered<C>& b, const Summed& summed) {
  using sums = axes_of_list_t<Over>;
  axis all[max_rank];
  axis_extents<axes_for<shape_of<N>>>::write(n.extents(), all);
  const auto outside = nest_of<product_result_t<N>, axes_for<shape_of<A>>, axes_for<shape_of<B>>>(all, to.axes, a, b);
  axis along[max_rank];
  axis_extents<sums>::write(summed.extents(), along);
  std::ptrdiff_t inside[2][max_rank] = {};
  align<sums, axes_for<shape_of<A>>>(a.axes, inside[0]);
  align<sums, axes_for<shape_of<B>>>(b.axes, inside[1]);
  kernels::contract<SkipHidden>(outside, nest_over(sums::size, along, inside), to.data, a.data, b.data);
}
template <class C, class Shape, class Over, class A, class B, class Lowered>
void loops(const contraction<Shape, Over, A, B>& n, target<C> to, const Lowered& x) {
  using N = contraction<Shape, Over, A, B>;
  const auto& left = n.template child<0>();
  if constexpr (gives_hidden_weights<B> && !gives_hidden_weights<A>) {
    product_loops<true, N, Over, B, A>(n, to, child_in<1>(x), child_in<0>(x), left);
  } else {
    product_loops<gives_hidden_weights<A>, N, Over, A, B>(n, to, child_in<0>(x), child_in<1>(x), left);
  }
}

}  // namespace dimwise::detail
