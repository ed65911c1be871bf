// SPDX-License-Identifier: BSL-1.0
// dimwise/src/kernels_avx2.cpp -- the kernels for AVX2, compiled with the flags of that architecture.
//
// Uses no standard containers and no xtensor: an inline function compiled for a newer machine must not be shared with
// files for an older one (tests/dispatch/symbols.sh).
#include <dimwise/kernels/dispatch/gradient_implementation.hpp>
#include <dimwise/kernels/dispatch/implementation.hpp>
#include <dimwise/kernels/dispatch/quantised_implementation.hpp>

namespace dimwise::kernels {

extern const table table_avx2;
const table table_avx2 = table_of<xsimd::fma3<xsimd::avx2>>;
extern const element_table<double> double_table_avx2;
const element_table<double> double_table_avx2 = element_table_of<in_double<xsimd::fma3<xsimd::avx2>>>;
extern const gradient_table gradient_table_avx2;
const gradient_table gradient_table_avx2 = gradient_table_of<xsimd::fma3<xsimd::avx2>>;
extern const element_gradient_table<double> double_gradient_table_avx2;
const element_gradient_table<double> double_gradient_table_avx2 =
    gradient_table_of<in_double<xsimd::fma3<xsimd::avx2>>>;
extern const quantised_table quantised_table_avx2;
const quantised_table quantised_table_avx2 = quantised_table_of<xsimd::fma3<xsimd::avx2>>;

}  // namespace dimwise::kernels
