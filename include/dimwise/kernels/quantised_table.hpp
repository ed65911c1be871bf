// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/quantised_table.hpp -- the products with weights that are stored in few bits, as a table of
// functions.
//
// Layer: kernels. Includes: table.hpp; no xsimd.
// A table of its own: who compiles kernels from the headers and has float weights compiles none of these
// (active_quantised.hpp).
// Tests: tests/kernels/quantised_product.test.cpp
#pragma once

#include <dimwise/kernels/table.hpp>
#include <dimwise/support/number_format.hpp>

#include <cstddef>

namespace dimwise::kernels {

/// What the numbers of A become before they are multiplied: they stay floats, are rounded to bfloat16, or to 8 bits in
/// blocks of 32.
enum class product_inputs : unsigned char { float32, bfloat16, int8 };

/// C = A Bᵀ: `n` rows of B, each `k` neighbours in the bits of `format`. int8 and int4 have a scale for each 32 numbers
/// of a row, and 8-bit inputs; they are summed in whole numbers within a block.
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

/// The kernels of one architecture for such products. Scratch is aligned to 64 bytes and as large as the function
/// before says.
struct quantised_table {
  std::size_t (*product_bytes)(const quantised_product_call&, std::size_t workers);
  void (*product)(const quantised_product_call&, void* scratch, const runner&);
};

}  // namespace dimwise::kernels
