// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/kernel.hpp -- which kernel takes an attention: that of floats, of doubles, or of bfloat16.
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

template <class C>
class attention_kernel {
 public:
  attention_kernel(const attention_size& size, bool in_bfloat16)
      : in_bfloat16_(in_bfloat16),
        table_(in_bfloat16 && size.kind() == plan_kind::attention ? kernels::active_bfloat16() : nullptr) {}
  // In double there is no kernel for a few queries: products and a softmax compute them.
  [[nodiscard]] static bool takes(const attention_size& size) {
    return std::is_same_v<C, float> || size.kind() == plan_kind::attention;
  }
  // Whether the kernel rounds what it reads.
  [[nodiscard]] bool rounds() const { return table_ != nullptr; }
  [[nodiscard]] std::string words() const {
    return rounds() ? ", in bfloat16" : in_bfloat16_ ? ", of bfloat16 in float" : "";
  }
  void attend(const kernels::attention_call_of<C>& call, const kernels::runner& runner) const {
    const auto& table = kernels::active_for<C>();
    if constexpr (std::is_same_v<C, float>) {
      if (rounds()) {
        return table_->attention(call, scratch(table_->attention_bytes(call, runner.worker_count())).data(), runner);
      }
      if (table.attention_small(call)) { return; }
    }
    table.attention(call, scratch(table.attention_bytes(call, runner.worker_count())).data(), runner);
  }

 private:
  bool in_bfloat16_;
  const kernels::bfloat16_table* table_;
};

}  // namespace dimwise::detail
