// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/decode/merge.hpp -- the parts of a decoding step, merged by the log-sum-exp of their scores.
//
// Layer: kernels.
// Tests: tests/kernels/decode/attention.test.cpp
#pragma once

#include <dimwise/kernels/attention/plan.hpp>
#include <dimwise/kernels/attention/types.hpp>
#include <dimwise/kernels/decode/plan.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/exp.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>
#include <math.h>  // NOLINT(modernize-deprecated-headers): functions of <cmath> are inline and would leak

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

/// Merges the parts of one group into the output of its heads.
template <class Arch>
[[gnu::noinline]] void merge_parts(const attention_layout& layout, const decode_plan<Arch>& plan,
                                   const attention_head* heads, const float* parts) noexcept {
  constexpr float hidden = -infinity;
  for (std::size_t r = 0; r < plan.rows; ++r) {
    const attention_head& head = heads[r / layout.queries];
    const auto query = static_cast<std::ptrdiff_t>(r % layout.queries);
    float maximum = hidden;
    for (std::size_t p = 0; p < plan.parts; ++p) {
      const float top = parts[p * plan.part_floats + r];
      maximum = top > maximum ? top : maximum;
    }
    const float against = maximum == hidden ? 0.0F : maximum;
    float sum = 0.0F;
    for (std::size_t p = 0; p < plan.parts; ++p) {
      const float* part = parts + p * plan.part_floats;
      sum += part[plan.statistics + r] * exp_nonpositive<Arch>(floats<Arch>(part[r] - against)).get(0);
    }
    const float inverse = sum == 0.0F ? 0.0F : 1.0F / sum;
    float* const out = head.out + query * layout.out_row;
    for (std::size_t c = 0; c < layout.value_dim; c += lanes<Arch>) {
      floats<Arch> total(0.0F);
      for (std::size_t p = 0; p < plan.parts; ++p) {
        const float* part = parts + p * plan.part_floats;
        const floats<Arch> factor = exp_nonpositive<Arch>(floats<Arch>(part[r] - against));
        total = fma<Arch>(factor, load_aligned<Arch>(part + 2 * plan.statistics + r * plan.out_row + c), total);
      }
      total = total * floats<Arch>(inverse);
      const std::size_t left = min<std::size_t>(layout.value_dim - c, lanes<Arch>);
      if (layout.out_feature == 1) {
        store_partial<Arch>(out + c, left, total);
      } else {
        for (std::size_t i = 0; i < left; ++i)
          out[static_cast<std::ptrdiff_t>(c + i) * layout.out_feature] = total.get(i);
      }
    }
    if (head.lse != nullptr) head.lse[query * layout.lse_query] = maximum + ::logf(sum);
  }
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
