// SPDX-License-Identifier: BSL-1.0
// dimwise/src/kernels_native.cpp -- the kernels for machines with one architecture, such as NEON64.
#include "architecture_tables.hpp"
#include <dimwise/kernels/dispatch/gradient_implementation.hpp>
#include <dimwise/kernels/dispatch/implementation.hpp>
#include <dimwise/kernels/dispatch/quantised_implementation.hpp>

namespace dimwise::kernels {
DIMWISE_ARCHITECTURE_TABLES(tables_native, default_arch)
}  // namespace dimwise::kernels
