// SPDX-License-Identifier: BSL-1.0
// dimwise/src/kernels_avx512bf16.cpp -- quantized products and bfloat16 attention for AVX-512 with VNNI and BF16.
//
// The other kernels of this architecture are those of AVX-512 (tests/dispatch/symbols.sh).
#include <dimwise/kernels/dispatch/bfloat16_implementation.hpp>
#include <dimwise/kernels/dispatch/quantised_implementation.hpp>

namespace dimwise::kernels {

extern const quantised_table quantised_table_avx512bf16;
const quantised_table quantised_table_avx512bf16 = quantised_table_of<xsimd::avx512bw>;
extern const bfloat16_table bfloat16_table_avx512bf16;
const bfloat16_table bfloat16_table_avx512bf16 = bfloat16_table_of<xsimd::avx512bw>;

}  // namespace dimwise::kernels
