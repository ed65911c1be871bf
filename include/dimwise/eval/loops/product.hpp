// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops/product.hpp -- the reference loops of products.
//
// Layer: eval. A product skips the values whose factor is a hidden weight (−0) or a zero of a gradient.
// Tests: tests/expr/products/contract.test.cpp
#pragma once

#include <dimwise/eval/pass.hpp>
#include <dimwise/expr/products/contract.hpp>
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

// The axis map of a product: the axes of each operand along those of the result, and those that are summed over. It
// has no names, so one function serves all products.
struct product_operand {
  const short* along_result;
  const short* along_sums;
  std::size_t rank;
  kernels::left_out leaves_out;
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
                                              leaves_out<X>};
  static constexpr product_form value = {operand<A>, operand<B>, result::size, sums::size};
};
template <class N>
inline constexpr const product_form& form_of = form_of_product<N>::value;

// Whether all elements are finite; contiguous ones in groups of a constant count, which compilers turn into
// vectors.
template <class C>
bool all_finite(std::size_t rank, const axis* axes, const C* data) {
  std::ptrdiff_t strides[2][max_rank] = {};  // one pointer moves: every program has the loops of two
  for (std::size_t i = 0; i < rank; ++i) { strides[0][i] = axes[i].stride; }
  unsigned others = 0;
  kernels::walk_rows(nest_over(rank, axes, strides),
                     [&](const std::ptrdiff_t(&o)[2], std::size_t n, const std::ptrdiff_t(&s)[2]) {
    constexpr std::size_t group = 64;
    const C* row = data + o[0];
    for (; s[0] == 1 && n >= group; row += group, n -= group) {
      for (std::size_t i = 0; i < group; ++i) { others |= static_cast<unsigned>(row[i] - row[i] != C(0)); }
    }
    for (; n > 0; row += s[0], --n) { others |= static_cast<unsigned>(*row - *row != C(0)); }
  });
  return others == 0;
}

// The axis map of a product whose operands turn out to have hidden weights when they are read.
template <class C>
product_form form_with(product_form form, const lowered<C>& a, const lowered<C>& b) {
  using kernels::left_out;
  if (a.hides && form.a.leaves_out == left_out::nothing) { form.a.leaves_out = left_out::hidden; }
  if (b.hides && form.b.leaves_out == left_out::nothing) { form.b.leaves_out = left_out::hidden; }
  return form;
}

// Σ a · b. Of two operands that are both weights, the hidden ones of a are left out.
template <class C>
void product_loops(const product_form& by_type, target<C> to, const lowered<C>& a, const lowered<C>& b) {
  using kernels::left_out;
  const product_form form = form_with(by_type, a, b);
  if (form.b.leaves_out > form.a.leaves_out) {
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
  const auto run = [&](left_out what) { kernels::contract(what, result, sums, to.data, a.data, b.data); };
  if (form.a.leaves_out == left_out::hidden) { return run(left_out::hidden); }
  run(left_out::nothing);
  // The factor of a zero changes a sum only if it is not finite, and then the sum is NaN. So products of gradients run
  // like all others, and the result is checked once.
  if (form.a.leaves_out == left_out::nothing || all_finite(form.rank, to.axes, to.data)) { return; }
  run(form.b.leaves_out == left_out::hidden ? left_out::zeros_and_hidden : left_out::zeros);
}
// Whole numbers.
template <class C, class Shape, class Over, class A, class B, class Lowered>
[[gnu::always_inline]] inline void loops(const contraction<Shape, Over, A, B>&, target<C> to, const Lowered& x) {
  product_loops(form_of<contraction<Shape, Over, A, B>>, to, child_in<0>(x), child_in<1>(x));
}

#if DIMWISE_DETAIL_HAS_LIBRARY
DIMWISE_DETAIL_LIBRARY_TEMPLATE void product_loops<float>(const product_form&, target<float>, const lowered<float>&,
                                                          const lowered<float>&);
#endif

}  // namespace dimwise::detail
