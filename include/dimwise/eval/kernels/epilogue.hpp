// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/epilogue.hpp -- what follows a product element by element, done before it is stored.
//
// Layer: eval. residual + f(x · w + bias): each step of its own would read and write all of the result once more.
// Tests: tests/eval/plan/plan.test.cpp
#pragma once

#include <dimwise/eval/kernels/product.hpp>
#include <dimwise/support/library.hpp>

namespace dimwise::detail {

// ---- f(product + bias) + residual ----------------------------------------------------------------------------------

// Steps in the order in which the kernel takes them; a chain may leave some out, never exchange them.
enum class product_step : unsigned char { product, bias, activation, residual };

// The steps after a product: the operands, with their strides along the product's axes.
struct chain_steps {
  lowered<float> bias{};
  std::ptrdiff_t bias_strides[max_rank] = {};
  kernels::function activation = kernels::function::none;
  lowered<float> residual{};
  std::ptrdiff_t residual_strides[max_rank] = {};
  bool has_bias = false;
  bool has_residual = false;

  [[nodiscard]] std::string in_words() const {
    return std::string(has_bias ? ", plus a bias" : "") +
           (activation == kernels::function::none ? "" : ", through a function") +
           (has_residual ? ", plus a residual" : "");
  }
};
// to = f(to, x), element by element.
template <class F>
void update(std::size_t rank, target<float> to, const std::ptrdiff_t* x_strides, const float* x, const F& f) {
  kernels::loop_nest<2> nest;
  for (std::size_t i = 0; i < rank; ++i) { nest.add(to.axes[i].extent, {to.axes[i].stride, x_strides[i]}); }
  kernels::for_each_element(nest, [&](std::ptrdiff_t t, std::ptrdiff_t g) { to.data[t] = f(to.data[t], x[g]); });
}

// A residual of the result's layout is found by the result's strides.
DIMWISE_DETAIL_LIBRARY bool lies_like(std::size_t rank, const axis* to, const std::ptrdiff_t* strides);
// A bias is one contiguous row of all columns, or of all rows where operands changed places. Columns are the axes that
// `rows` lacks.
DIMWISE_DETAIL_LIBRARY bool is_row_of(std::size_t rank, const axis* extents, const std::ptrdiff_t* strides,
                                      std::size_t columns, const short* rows);
// The steps after a product, one at a time, if the kernel does not take them.
DIMWISE_DETAIL_LIBRARY void finish_apart(std::size_t rank, const chain_steps& steps, target<float> to);
// A product and what follows it; false where a hidden value may have spoiled it.
DIMWISE_DETAIL_LIBRARY bool multiply_and_finish(context& cx, const product_form& form, target<float> to,
                                                const lowered<float>& a, const lowered<float>& b,
                                                const chain_steps& steps);

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/kernels/epilogue_definitions.hpp>
#endif
