// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/gradient_sum.hpp -- sums of gradients, and products that are added to a gradient.
//
// Layer: eval. These functions know no names: an adjoint calls them with axis maps, and forms no expression.
// Tests: tests/grad/operations/elements.test.cpp, tests/grad/operations/products.test.cpp
#pragma once

#include <dimwise/eval/loops/product.hpp>
#include <dimwise/eval/loops/rows.hpp>
#include <dimwise/kernels/dispatch/active.hpp>
#include <dimwise/support/library.hpp>

#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/kernels/epilogue.hpp>
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

// to = a + b for `n` contiguous elements; `to` may be one of them. Throws unless b has `given` = `n` elements.
template <class T>
void add_gradients(context& cx, std::size_t n, std::size_t given, T* to, const T* a, const T* b);

// to = what is computed from a form and two operands, and + `onto` if it is not null, which has the layout of `to`.
template <class T>
using gradient_function = void(context& cx, const void* form, std::size_t rank, target<T> to, const lowered<T>& g,
                               const lowered<T>& x, const T* onto);
// g · x by a product_form.
template <class T>
void compute_product_onto(context& cx, const void* form, std::size_t rank, target<T> to, const lowered<T>& g,
                          const lowered<T>& x, const T* onto);
// The sums of rows of g by a rows_form; x is not read.
template <class T>
void compute_sum_onto(context& cx, const void* form, std::size_t rank, target<T> to, const lowered<T>& g,
                      const lowered<T>& x, const T* onto);

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/gradient_sum_definitions.hpp>
#endif

#if DIMWISE_DETAIL_HAS_LIBRARY
namespace dimwise::detail {
#define DIMWISE_DETAIL_GRADIENT_SUMS(T)                                                                              \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void add_gradients<T>(context&, std::size_t, std::size_t, T*, const T*, const T*); \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_product_onto<T>(context&, const void*, std::size_t, target<T>,        \
                                                               const lowered<T>&, const lowered<T>&, const T*);      \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_sum_onto<T>(context&, const void*, std::size_t, target<T>,            \
                                                           const lowered<T>&, const lowered<T>&, const T*);
DIMWISE_DETAIL_GRADIENT_SUMS(float)
DIMWISE_DETAIL_GRADIENT_SUMS(double)
#undef DIMWISE_DETAIL_GRADIENT_SUMS
}  // namespace dimwise::detail
#endif
