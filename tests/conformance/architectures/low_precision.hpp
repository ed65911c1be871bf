// tests/conformance/architectures/low_precision.hpp -- cases of the suite `architectures` with weights of low
// precision: how far they may be from float.
//
// Products round the weights and what is multiplied with them to the same format, each number by at most half a
// step. The bound is twice the error in float if each weight is moved by half a step, up or down: one for either
// operand. Rounding moves a number by 1/√3 of half a step (root mean square), and the two errors are independent: in
// most cases the error is below √(2/3) of that of the moved weights. Features with outliers in a block have larger
// steps.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "case.hpp"
#include <dimwise/nn/weight.hpp>

#include <type_traits>

namespace conformance {

/// A format of weights: the largest error of rounding is 1/256 of a number in bfloat16, and 1/254 of the largest number
/// of 32 neighbours in int8.
enum class low_precision { bfloat16, int8 };

/// The arrays as float32. Each element of those with more than one extent is moved by half a step of the format.
[[nodiscard]] dimwise::io::archive moved(const dimwise::io::archive& from, low_precision format);

/// Reports values whose distance to `exact` is above the bound that those with moved weights give, and values that are
/// not rounded: below a hundredth of it.
void expect_near(run& r, std::span<const float> found, std::span<const float> exact, std::span<const float> moved,
                 low_precision format);

/// Compares `compute(format, weights)` for both formats with float, unless the file has quantized weights. `format` is
/// the `std::type_identity` of the element type of the weights.
template <class Compute>
void expect_low_precision(run& r, const architecture_case& c, const Compute& compute) {
  if (c.config().has("quantization_config")) { return; }
  const std::type_identity<float> in_float;
  const auto exact = compute(in_float, c.weights());
  const auto compare = [&](auto type, low_precision format) {
    expect_near(r, compute(type, c.weights()), exact, compute(in_float, moved(c.weights(), format)), format);
  };
  compare(std::type_identity<dimwise::bfloat16>{}, low_precision::bfloat16);
  compare(std::type_identity<dimwise::nn::int8_blocks>{}, low_precision::int8);
}

}  // namespace conformance
