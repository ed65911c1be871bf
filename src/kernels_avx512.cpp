// SPDX-License-Identifier: BSL-1.0
// dimwise/src/kernels_avx512.cpp -- the kernels for AVX-512, compiled with the flags of that architecture.
//
// Uses no standard containers and no xtensor: an inline function compiled for a newer machine must not be shared with
// files for an older one (tests/dispatch/symbols.sh).
#include <dimwise/kernels/dispatch/gradient_implementation.hpp>
#include <dimwise/kernels/dispatch/implementation.hpp>
#include <dimwise/kernels/dispatch/quantised_implementation.hpp>

namespace dimwise::kernels {

extern const table table_avx512;
const table table_avx512 = table_of<xsimd::avx512bw>;
extern const element_table<double> double_table_avx512;
const element_table<double> double_table_avx512 = element_table_of<in_double<xsimd::avx512bw>>;
extern const gradient_table gradient_table_avx512;
const gradient_table gradient_table_avx512 = gradient_table_of<xsimd::avx512bw>;
extern const element_gradient_table<double> double_gradient_table_avx512;
const element_gradient_table<double> double_gradient_table_avx512 = gradient_table_of<in_double<xsimd::avx512bw>>;
extern const quantised_table quantised_table_avx512;
const quantised_table quantised_table_avx512 = quantised_table_of<xsimd::avx512bw>;

}  // namespace dimwise::kernels
