// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops_product.hpp -- the reference loops of products.
//
// Layer: eval. Hidden weights (−0) leave the values beside them out.
// Tests: tests/expr/contract.test.cpp
#pragma once

#include <dimwise/eval/pass.hpp>
#include <dimwise/expr/contract.hpp>
#include <dimwise/support/library.hpp>

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

// What remains of a product when its names are gone: the axes of each operand that run along those of the result, and
// those that are summed over. All that follows is one function for all products.
struct product_operand {
  const short* along_result;
  const short* along_sums;
  std::size_t rank;
  bool gives_hidden_weights;
};
struct product_form {
  product_operand a;
  product_operand b;
  std::size_t rank;  // of the result
  std::size_t sums;
};
template <class N>
struct form_of_product;
template <class Shape, class Over, class A, class B>
struct form_of_product<contraction<Shape, Over, A, B>> {
  using result = product_result_t<contraction<Shape, Over, A, B>>;
  using sums = axes_of_list_t<Over>;
  template <class X>
  static constexpr product_operand operand = {places<result, axes_for<shape_of<X>>>::at,
                                              places<sums, axes_for<shape_of<X>>>::at, axes_for<shape_of<X>>::size,
                                              gives_hidden_weights<X>};
  static constexpr product_form value = {operand<A>, operand<B>, result::size, sums::size};
};
template <class N>
inline constexpr const product_form& form_of = form_of_product<N>::value;

// Σ a · b. Of two operands that are both weights, the hidden ones of a are left out.
template <class C>
void product_loops(const product_form& form, target<C> to, const lowered<C>& a, const lowered<C>& b) {
  if (form.b.gives_hidden_weights && !form.a.gives_hidden_weights) {
    return product_loops<C>({form.b, form.a, form.rank, form.sums}, to, b, a);
  }
  const short* const at[] = {form.a.along_result, form.b.along_result};
  const axis* const from[] = {a.axes, b.axes};
  kernels::loop_nest<2> sums;
  for (std::size_t i = 0; i < form.sums; ++i) {
    const axis& along = a.axes[form.a.along_sums[i]];
    sums.add(along.extent, {along.stride, b.axes[form.b.along_sums[i]].stride});
  }
  const auto result = nest_by(at, form.rank, to.axes, from);
  if (form.a.gives_hidden_weights) {
    kernels::contract<true>(result, sums, to.data, a.data, b.data);
  } else {
    kernels::contract<false>(result, sums, to.data, a.data, b.data);
  }
}
template <class C, class Shape, class Over, class A, class B, class Lowered>
[[gnu::always_inline]] inline void loops(const contraction<Shape, Over, A, B>&, target<C> to, const Lowered& x) {
  product_loops(form_of<contraction<Shape, Over, A, B>>, to, child_in<0>(x), child_in<1>(x));
}

#if DIMWISE_DETAIL_HAS_LIBRARY
DIMWISE_DETAIL_LIBRARY_TEMPLATE void product_loops<float>(const product_form&, target<float>, const lowered<float>&,
                                                          const lowered<float>&);
#endif

}  // namespace dimwise::detail
