// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/bfloat16_table.hpp -- attention in products of bfloat16, as a table of functions.
//
// Layer: kernels. Includes: table.hpp; no xsimd.
// A table of its own: who compiles kernels from the headers and computes in float compiles none of these, and machines
// without such products have none (active_bfloat16.hpp).
// Tests: tests/kernels/attention_bfloat16.test.cpp
#pragma once

#include <dimwise/kernels/table.hpp>

#include <cstddef>

namespace dimwise::kernels {

/// Attention whose queries, keys, weights and values are rounded to bfloat16 and whose sums are float: calls as those
/// of `table`. Keys and values are floats or bfloat16 without a scale. Scratch is aligned to 64 bytes and as large as
/// the function before says.
struct bfloat16_table {
  std::size_t (*attention_bytes)(const attention_call&, std::size_t workers);
  void (*attention)(const attention_call&, void* scratch, const runner&);
};

}  // namespace dimwise::kernels
