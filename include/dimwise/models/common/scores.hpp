// SPDX-License-Identifier: BSL-1.0
// dimwise/models/common/scores.hpp -- the scale of scores as a setting.
//
// Layer: models.
// Tests: the conformance suite `architectures`
#pragma once

#include <cmath>
#include <cstddef>

namespace dimwise::models {

/// The factor of the scores of queries and keys with `d_k` features: the setting, or 1 / √d_k if the setting is 0.
[[nodiscard]] inline double scale_of_scores(double setting, std::size_t d_k) {
  return setting != 0 ? setting : 1 / std::sqrt(static_cast<double>(d_k));
}

}  // namespace dimwise::models
