// SPDX-License-Identifier: BSL-1.0
// dimwise/src/kernels_native.cpp -- the kernels for machines with one architecture, such as NEON64.
#include <dimwise/kernels/dispatch/gradient_implementation.hpp>
#include <dimwise/kernels/dispatch/implementation.hpp>
#include <dimwise/kernels/dispatch/quantised_implementation.hpp>

namespace dimwise::kernels {

extern const table table_native;
const table table_native = table_of<default_arch>;
extern const element_table<double> double_table_native;
const element_table<double> double_table_native = element_table_of<in_double<default_arch>>;
extern const gradient_table gradient_table_native;
const gradient_table gradient_table_native = gradient_table_of<default_arch>;
extern const element_gradient_table<double> double_gradient_table_native;
const element_gradient_table<double> double_gradient_table_native = gradient_table_of<in_double<default_arch>>;
extern const quantised_table quantised_table_native;
const quantised_table quantised_table_native = quantised_table_of<default_arch>;

}  // namespace dimwise::kernels
