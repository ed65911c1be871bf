// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/dispatch/active_bfloat16.hpp -- selection of the bfloat16 attention kernels.
//
// Layer: kernels. Separate from active.hpp, so that programs in float do not compile them.
// Tests: tests/kernels/attention/bfloat16.test.cpp
#pragma once

#include <dimwise/kernels/dispatch/active.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>

#if defined(DIMWISE_COMPILED_KERNELS) && !defined(DIMWISE_PLAIN_ONLY)

#include <dimwise/kernels/dispatch/bfloat16_table.hpp>

namespace dimwise::kernels {
/// The bfloat16 kernels of this machine; null if it has no bfloat16 products.
[[nodiscard]] const bfloat16_table* active_bfloat16() noexcept;
}  // namespace dimwise::kernels

#elif !defined(DIMWISE_PLAIN_ONLY)

#include <dimwise/kernels/dispatch/bfloat16_implementation.hpp>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {
/// The bfloat16 kernels for the compiler's flags; null if they allow no bfloat16 products.
template <class Arch = default_arch>
[[nodiscard]] const bfloat16_table* active_bfloat16() noexcept {
#if defined(DIMWISE_DETAIL_BFLOAT16_ATTENTION)
  return &bfloat16_table_of<Arch>;
#else
  return nullptr;
#endif
}
}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION

#endif
