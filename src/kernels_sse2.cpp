// SPDX-License-Identifier: BSL-1.0
// dimwise/src/kernels_sse2.cpp -- the kernels for SSE2, compiled with the flags of that architecture.
//
// Uses no standard containers and no xtensor: an inline function compiled for a newer machine must not be shared with
// files for an older one (tests/dispatch/symbols.sh).
#include <dimwise/kernels/dispatch/gradient_implementation.hpp>
#include <dimwise/kernels/dispatch/implementation.hpp>
#include <dimwise/kernels/dispatch/quantised_implementation.hpp>

namespace dimwise::kernels {

extern const table table_sse2;
const table table_sse2 = table_of<xsimd::sse2>;
extern const element_table<double> double_table_sse2;
const element_table<double> double_table_sse2 = element_table_of<in_double<xsimd::sse2>>;
extern const gradient_table gradient_table_sse2;
const gradient_table gradient_table_sse2 = gradient_table_of<xsimd::sse2>;
extern const element_gradient_table<double> double_gradient_table_sse2;
const element_gradient_table<double> double_gradient_table_sse2 = gradient_table_of<in_double<xsimd::sse2>>;
extern const quantised_table quantised_table_sse2;
const quantised_table quantised_table_sse2 = quantised_table_of<xsimd::sse2>;

}  // namespace dimwise::kernels
