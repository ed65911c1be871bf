// tests/conformance/attention/rotary_cache.hpp -- cosines and sines as ONNX gives them: a row for each position.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "attention.hpp"

namespace conformance {

struct row : dimwise::choice_dim<> {};      // the positions that a cache has
struct turned : dimwise::feature_dim<> {};  // the pairs of features that are turned

/// Positions as ids of rows.
[[nodiscard]] inline auto row_ids(const dimwise::tensor<std::int64_t, batch, seq>& positions) {
  return dimwise::map([](std::int64_t p) { return dimwise::id<row>(static_cast<std::size_t>(p)); }, positions);
}

}  // namespace conformance
