// SPDX-License-Identifier: BSL-1.0
// dimwise/src/kernels_avx512bf16.cpp -- the products with quantised weights, and attention in bfloat16, where AVX-512
// multiplies numbers of 8 bits and of bfloat16.
//
// Of this architecture's kernels these alone differ from those of avx512 (tests/dispatch/symbols.sh).
#include <dimwise/kernels/bfloat16_implementation.hpp>
#include <dimwise/kernels/quantised_implementation.hpp>

namespace dimwise::kernels {

extern const quantised_table quantised_table_avx512bf16;
const quantised_table quantised_table_avx512bf16 = quantised_table_of<xsimd::avx512bw>;
extern const bfloat16_table bfloat16_table_avx512bf16;
const bfloat16_table bfloat16_table_avx512bf16 = bfloat16_table_of<xsimd::avx512bw>;

}  // namespace dimwise::kernels
