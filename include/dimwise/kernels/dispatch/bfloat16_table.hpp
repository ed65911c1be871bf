// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/dispatch/bfloat16_table.hpp -- the table of functions for attention in bfloat16 products.
//
// Layer: kernels. Includes: table.hpp; no xsimd.
// A separate table: programs that compile kernels from the headers and compute in float do not instantiate it, and
// machines without such products have none (active_bfloat16.hpp).
// Tests: tests/kernels/attention/bfloat16.test.cpp
#pragma once

#include <dimwise/kernels/dispatch/table.hpp>

#include <cstddef>

namespace dimwise::kernels {

/// Attention with queries, keys, weights and values rounded to bfloat16 and sums in float; calls are those of `table`.
/// Keys and values are floats, or bfloat16 without a scale. Scratch is aligned to 64 bytes; its size is returned by the
/// preceding function.
struct bfloat16_table {
  std::size_t (*attention_bytes)(const attention_call&, std::size_t workers);
  void (*attention)(const attention_call&, void* scratch, const runner&);
};

}  // namespace dimwise::kernels
