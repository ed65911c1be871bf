// SPDX-License-Identifier: BSL-1.0
// dimwise/src/kernels_avx512vnni.cpp -- quantized products for AVX-512 with VNNI.
//
// The other kernels of this architecture are those of AVX-512 (tests/dispatch/symbols.sh).
#include <dimwise/kernels/dispatch/quantised_implementation.hpp>

namespace dimwise::kernels {

extern const quantised_table quantised_table_avx512vnni;
const quantised_table quantised_table_avx512vnni = quantised_table_of<xsimd::avx512bw>;

}  // namespace dimwise::kernels
