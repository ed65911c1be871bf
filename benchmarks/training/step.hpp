// SPDX-License-Identifier: BSL-1.0
// benchmarks/training/step.hpp -- a step of training of a GPT: forward, backward and AdamW, of two sizes.
//
// Each size is compiled in a file of its own (small.cpp, gpt2.cpp).
#pragma once

#include <dimwise/eval/context.hpp>

#include <cstddef>
#include <memory>

namespace bench {

/// A model with its optimiser, and a batch.
class training_step {
 public:
  training_step() = default;
  training_step(const training_step&) = delete;
  training_step& operator=(const training_step&) = delete;
  virtual ~training_step() = default;
  /// Moves the model once; the loss before. The context does the work, and counts it.
  virtual double run(dimwise::context& by) = 0;
};

/// 4 layers, 256 features, 8 heads, 4096 words.
std::unique_ptr<training_step> small_gpt(std::size_t batch, std::size_t length);
/// GPT-2 of 124 million parameters.
std::unique_ptr<training_step> gpt2(std::size_t batch, std::size_t length);

}  // namespace bench
