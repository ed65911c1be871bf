// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/active_bfloat16.hpp -- the attention in bfloat16 that this program uses.
//
// Layer: kernels. Apart from active.hpp, so that programs that compute in float compile none of it.
// Tests: tests/kernels/attention_bfloat16.test.cpp
#pragma once

#include <dimwise/kernels/active.hpp>
#include <dimwise/kernels/configuration.hpp>

#if defined(DIMWISE_COMPILED_KERNELS) && !defined(DIMWISE_PLAIN_ONLY)

#include <dimwise/kernels/bfloat16_table.hpp>

namespace dimwise::kernels {
/// That of the machine; null where it multiplies no numbers of bfloat16.
[[nodiscard]] const bfloat16_table* active_bfloat16() noexcept;
}  // namespace dimwise::kernels

#elif !defined(DIMWISE_PLAIN_ONLY)

#include <dimwise/kernels/bfloat16_implementation.hpp>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {
/// That of the compiler's flags; null where they allow no products of bfloat16.
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
