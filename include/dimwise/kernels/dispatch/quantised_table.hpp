// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/dispatch/quantised_table.hpp -- the table of functions for products with quantized weights.
//
// Layer: kernels. Includes: table.hpp; no xsimd.
// A separate table: programs that compile kernels from the headers and have only float weights do not instantiate it
// (active_quantised.hpp).
// Tests: tests/kernels/quantised/product.test.cpp
#pragma once

#include <dimwise/kernels/dispatch/table.hpp>
#include <dimwise/support/number_format.hpp>

#include <cstddef>

namespace dimwise::kernels {

/// The conversion of A before the product: none, to bfloat16, or to 8 bits in blocks of 32.
enum class product_inputs : unsigned char { float32, bfloat16, int8 };

/// C = A Bᵀ: `n` rows of B with `k` contiguous elements in `format`. int8 and int4 have one scale per 32 elements of a
/// row, and 8-bit inputs; products are summed as integers within a block.
struct quantised_product_call {
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t k = 0;
  const float* a = nullptr;  ///< unit column stride
  std::ptrdiff_t a_row = 0;
  product_inputs inputs = product_inputs::float32;
  const void* b = nullptr;
  number_format format = number_format::bfloat16;
  std::ptrdiff_t b_row = 0;  ///< in bytes
  const float16* scales = nullptr;
  std::ptrdiff_t scales_row = 0;
  float* c = nullptr;  ///< unit column stride
  std::ptrdiff_t c_row = 0;
  const float* residual = nullptr;  ///< unit column stride; may be `c`
  std::ptrdiff_t residual_row = 0;
  product_epilogue epilogue;  ///< no scale, and no row_bias
};

/// The kernels of one architecture for products with quantized weights. Scratch is aligned to 64 bytes; its size is
/// returned by the preceding function.
struct quantised_table {
  std::size_t (*product_bytes)(const quantised_product_call&, std::size_t workers);
  void (*product)(const quantised_product_call&, void* scratch, const runner&);
};

}  // namespace dimwise::kernels
