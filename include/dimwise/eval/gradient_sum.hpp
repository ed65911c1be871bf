// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/gradient_sum.hpp -- sums of gradients, and products that are added to a gradient.
//
// Layer: eval. These functions know no names: an adjoint calls them with axis maps, and forms no expression.
// Tests: tests/grad/operations/elements.test.cpp, tests/grad/operations/products.test.cpp
#pragma once

#include <dimwise/eval/loops_product.hpp>
#include <dimwise/eval/loops_rows.hpp>
#include <dimwise/kernels/dispatch/active.hpp>
#include <dimwise/support/library.hpp>

#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/kernels_epilogue.hpp>
#endif

namespace dimwise::detail {

// The axis map of the product of a gradient, of which zeros leave out what they meet, and a value.
template <class Result, class Sums, class Gradient, class Value>
struct gradient_product {
  static constexpr product_form form = {
      {places<Result, Gradient>::at, places<Sums, Gradient>::at, Gradient::size, kernels::left_out::zeros},
      {places<Result, Value>::at, places<Sums, Value>::at, Value::size, kernels::left_out::nothing},
      Result::size,
      Sums::size};
};

// to = a + b for `n` contiguous elements; `to` may be one of them.
template <class T>
void add_gradients(context& cx, std::size_t n, T* to, const T* a, const T* b);
// to = a · b, and + `onto` if it is not null, which has the layout of `to`.
template <class T>
void compute_product_onto(context& cx, const product_form& form, target<T> to, const lowered<T>& a, const lowered<T>& b,
                          const T* onto);
// to = the sums of rows of `g`, and + `onto` if it is not null, which has the layout of `to`, an array of `rank` axes.
template <class T>
void compute_sum_onto(context& cx, const rows_form& form, std::size_t rank, target<T> to, const lowered<T>& g,
                      const T* onto);

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/gradient_sum_definitions.hpp>
#endif

#if DIMWISE_DETAIL_HAS_LIBRARY
namespace dimwise::detail {
DIMWISE_DETAIL_LIBRARY_TEMPLATE void add_gradients<float>(context&, std::size_t, float*, const float*, const float*);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void add_gradients<double>(context&, std::size_t, double*, const double*,
                                                           const double*);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_product_onto<float>(context&, const product_form&, target<float>,
                                                                 const lowered<float>&, const lowered<float>&,
                                                                 const float*);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_product_onto<double>(context&, const product_form&, target<double>,
                                                                  const lowered<double>&, const lowered<double>&,
                                                                  const double*);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_sum_onto<float>(context&, const rows_form&, std::size_t, target<float>,
                                                             const lowered<float>&, const float*);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_sum_onto<double>(context&, const rows_form&, std::size_t, target<double>,
                                                              const lowered<double>&, const double*);
}  // namespace dimwise::detail
#endif
