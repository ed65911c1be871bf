// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/dispatch/bfloat16_implementation.hpp -- the table of attention in bfloat16, for the compiler's flags.
//
// Layer: kernels. Compiled once under src/, or in the user's file for the user's flags (active_bfloat16.hpp).
// Tests: tests/kernels/attention/bfloat16.test.cpp
#pragma once

#include <dimwise/kernels/attention/bfloat16.hpp>
#include <dimwise/kernels/dispatch/bfloat16_table.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/implementation.hpp>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

#if defined(DIMWISE_DETAIL_BFLOAT16_ATTENTION)

namespace detail {

template <class Arch>
std::size_t attention_bfloat16_bytes(const attention_call& c, std::size_t workers) {
  return attention_scratch_bytes<Arch>(c.layout, workers);
}
template <class Arch>
void attention_bfloat16(const attention_call& c, void* scratch, const runner& threads) {
  kernels::attention<Arch, bfloat16_numbers<Arch>>(c.layout, c.heads, c.count, scratch, threads,
                                                   call_score<Arch>{c.score});
}

}  // namespace detail

template <class Arch>
inline constexpr bfloat16_table bfloat16_table_of = {
    .attention_bytes = &detail::attention_bfloat16_bytes<Arch>,
    .attention = &detail::attention_bfloat16<Arch>,
};

#endif

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
