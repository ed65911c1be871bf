// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/active_stored.hpp -- the products with stored weights that this program uses.
//
// Layer: kernels. Apart from active.hpp, so that programs with float weights compile none of them.
// Tests: tests/kernels/stored_product.test.cpp
#pragma once

#include <dimwise/kernels/active.hpp>
#include <dimwise/kernels/configuration.hpp>

#if defined(DIMWISE_COMPILED_KERNELS) && !defined(DIMWISE_PLAIN_ONLY)

#include <dimwise/kernels/stored_table.hpp>

namespace dimwise::kernels {
/// Those for the machine: where it multiplies numbers of 8 and 16 bits itself, others than those of active().
[[nodiscard]] const stored_table& active_stored() noexcept;
}  // namespace dimwise::kernels

#elif !defined(DIMWISE_PLAIN_ONLY)

#include <dimwise/kernels/stored_implementation.hpp>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {
/// Those for the compiler's flags.
template <class Arch = default_arch>
[[nodiscard]] const stored_table& active_stored() noexcept {
  return stored_table_of<Arch>;
}
}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

#endif
