// SPDX-License-Identifier: BSL-1.0
// dimwise/src/kernels_avx512vnni.cpp -- the products with quantised weights where AVX-512 multiplies numbers of 8 bits.
//
// Of this architecture's kernels these alone differ from those of avx512 (tests/dispatch/symbols.sh).
#include <dimwise/kernels/quantised_implementation.hpp>

namespace dimwise::kernels {

extern const quantised_table quantised_table_avx512vnni;
const quantised_table quantised_table_avx512vnni = quantised_table_of<xsimd::avx512bw>;

}  // namespace dimwise::kernels
