// benchmarks/ranks_steps.hpp -- parts of a transformer on several ranks: what dimwise-predict is compared with.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/ranks/communicator.hpp>

#include <cstddef>

namespace bench {

/// The sizes of a layer, and how long each step is measured.
struct layer_sizes {
  std::size_t sequences = 1;
  std::size_t context = 2048;
  std::size_t d_model = 512;
  std::size_t heads = 8;
  std::size_t hidden = 2048;
  double seconds = 2;
};

/// Prints a line of JSON for each step: median seconds of the slowest rank. Every rank calls it.
void run_steps(const dimwise::ranks::communicator& world, const layer_sizes& sizes);

}  // namespace bench
