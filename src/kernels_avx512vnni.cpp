// SPDX-License-Identifier: BSL-1.0
// dimwise/src/kernels_avx512vnni.cpp -- the products with stored weights where AVX-512 multiplies numbers of 8 bits.
//
// Of this architecture's kernels these alone differ from those of avx512 (tools/check_symbols.py).
#include <dimwise/kernels/stored_implementation.hpp>

namespace dimwise::kernels {

extern const stored_table stored_table_avx512vnni;
const stored_table stored_table_avx512vnni = stored_table_of<xsimd::avx512bw>;

}  // namespace dimwise::kernels
