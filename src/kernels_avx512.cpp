// SPDX-License-Identifier: BSL-1.0
// dimwise/src/kernels_avx512.cpp -- the kernels for AVX-512, compiled with the flags of that architecture.
//
// Uses no standard containers and no xtensor: an inline function compiled for a newer machine must not be shared with
// files for an older one (tests/dispatch/symbols.sh).
#include "architecture_tables.hpp"
#include <dimwise/kernels/dispatch/gradient_implementation.hpp>
#include <dimwise/kernels/dispatch/implementation.hpp>
#include <dimwise/kernels/dispatch/quantised_implementation.hpp>

namespace dimwise::kernels {
DIMWISE_ARCHITECTURE_TABLES(tables_avx512, xsimd::avx512bw)
}  // namespace dimwise::kernels
