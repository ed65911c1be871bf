// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/counts.hpp -- what is between a product of queries and keys and its softmax, counted.
//
// Layer: eval.
// Tests: tests/eval/attention/scores.test.cpp
#pragma once

namespace dimwise::detail {

// How many masks of each sort, and biases, a chain has: kernels take one of each, and given masks are made one.
struct chain_counts {
  int windows = 0;
  int lengths = 0;
  int documents = 0;
  int allows = 0;
  int biases = 0;
  int slopes = 0;
  int functions = 0;
  bool capped = false;
  [[nodiscard]] constexpr bool shifted() const { return biases + slopes > 0; }
  // A scale belongs before all that is not one.
  [[nodiscard]] constexpr bool scaled_only() const { return !shifted() && !capped && functions == 0; }
};
constexpr chain_counts operator+(chain_counts a, chain_counts b) {
  return {a.windows + b.windows, a.lengths + b.lengths, a.documents + b.documents, a.allows + b.allows,
          a.biases + b.biases,   a.slopes + b.slopes,   a.functions + b.functions, a.capped || b.capped};
}

}  // namespace dimwise::detail
