// SPDX-License-Identifier: BSL-1.0
// dimwise/src/kernels_sse4.cpp -- the kernels for SSE4.2, compiled with the flags of that architecture.
//
// Uses no standard containers and no xtensor: an inline function compiled for a newer machine must not be shared with
// files for an older one (tests/dispatch/symbols.sh).
#include <dimwise/kernels/dispatch/gradient_implementation.hpp>
#include <dimwise/kernels/dispatch/implementation.hpp>
#include <dimwise/kernels/dispatch/quantised_implementation.hpp>

namespace dimwise::kernels {

extern const table table_sse4;
const table table_sse4 = table_of<xsimd::sse4_2>;
extern const element_table<double> double_table_sse4;
const element_table<double> double_table_sse4 = element_table_of<in_double<xsimd::sse4_2>>;
extern const gradient_table gradient_table_sse4;
const gradient_table gradient_table_sse4 = gradient_table_of<xsimd::sse4_2>;
extern const element_gradient_table<double> double_gradient_table_sse4;
const element_gradient_table<double> double_gradient_table_sse4 = gradient_table_of<in_double<xsimd::sse4_2>>;
extern const quantised_table quantised_table_sse4;
const quantised_table quantised_table_sse4 = quantised_table_of<xsimd::sse4_2>;

}  // namespace dimwise::kernels
