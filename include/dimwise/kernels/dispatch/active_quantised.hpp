// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/dispatch/active_quantised.hpp -- selection of the kernels for quantized weights.
//
// Layer: kernels. Separate from active.hpp, so that programs with float weights do not compile them.
// Tests: tests/kernels/quantised/product.test.cpp
#pragma once

#include <dimwise/kernels/dispatch/active.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>

#if defined(DIMWISE_COMPILED_KERNELS) && !defined(DIMWISE_PLAIN_ONLY)

#include <dimwise/kernels/dispatch/quantised_table.hpp>

namespace dimwise::kernels {
/// The kernels of this machine; machines with 8-bit and 16-bit products have other kernels than those of active().
[[nodiscard]] const quantised_table& active_quantised() noexcept;
}  // namespace dimwise::kernels

#elif !defined(DIMWISE_PLAIN_ONLY)

#include <dimwise/kernels/dispatch/quantised_implementation.hpp>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {
/// The kernels for the compiler's flags.
template <class Arch = default_arch>
[[nodiscard]] const quantised_table& active_quantised() noexcept {
  return quantised_table_of<Arch>;
}
}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

#endif
