// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/rotary_frequencies.hpp -- the frequencies of rotary positions as a tensor, to look at or to compare.
//
// Layer: eval.
// Tests: tests/nn/rotary_scaling.test.cpp
#pragma once

#include <dimwise/expr/positions/rotary.hpp>

namespace dimwise {

namespace no_adl {

/// The angle of every pair at position 1, of twice as many features as there are pairs.
///
///   rotary_frequencies(pairs{64}, {.scaling = …})  ->  [pairs]
template <dimension_type Pairs>
  requires(detail::is_feature<Pairs>)
[[nodiscard]] tensor<double, Pairs> rotary_frequencies(const Pairs& pairs, const rotary_options& options = {}) {
  detail::aligned_vector<double> values(pairs.extent());
  for (std::size_t i = 0; i < values.size(); ++i) { values[i] = rotary_frequency(i, 2 * values.size(), options); }
  return tensor<double, Pairs>(std::span<const double>(values.data(), values.size()), pairs);
}
DIMWISE_DETAIL_MISUSED(rotary_frequencies)

}  // namespace no_adl

}  // namespace dimwise
