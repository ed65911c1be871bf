// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/kernel.hpp -- which kernel takes an attention: that of floats, or that of bfloat16.
//
// Layer: eval. Numbers of bfloat16 are multiplied as floats where the machine has no such products, and by few queries,
// which wait for memory and not for products. The weights of an attention are rounded within the kernel, before they
// are divided by their sum, or, in float, not at all: each is within a relative 2^-8 of what the formula multiplies
// before it is rounded.
// Tests: tests/eval/attention/bfloat16.test.cpp
#pragma once

#include <dimwise/eval/attention/layout.hpp>
#include <dimwise/kernels/dispatch/active_bfloat16.hpp>

#include <string>

namespace dimwise::detail {

template <bool InBfloat16>
struct attention_kernel {
  explicit attention_kernel(const attention_size&) {}
  static bool rounds() { return false; }
  static std::string words() { return {}; }
  static void attend(const kernels::attention_call& call, const kernels::runner& runner) {
    const kernels::active_kernels& table = kernels::active();
    if (table.attention_small(call)) { return; }
    table.attention(call, scratch(table.attention_bytes(call, runner.worker_count())).data(), runner);
  }
};
template <bool InBfloat16>
  requires InBfloat16
struct attention_kernel<InBfloat16> {
  const kernels::bfloat16_table* table;

  explicit attention_kernel(const attention_size& size)
      : table(size.kind() == plan_kind::attention ? kernels::active_bfloat16() : nullptr) {}
  // Whether the kernel rounds what it reads.
  [[nodiscard]] bool rounds() const { return table != nullptr; }
  [[nodiscard]] std::string words() const { return rounds() ? ", in bfloat16" : ", of bfloat16 in float"; }
  void attend(const kernels::attention_call& call, const kernels::runner& runner) const {
    if (!rounds()) { return attention_kernel<false>::attend(call, runner); }
    table->attention(call, scratch(table->attention_bytes(call, runner.worker_count())).data(), runner);
  }
};

}  // namespace dimwise::detail
