// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/training/stages_definitions.hpp -- the schedule of micro-batches over stages (support/library.hpp).
//
// Layer: ranks.
#pragma once

#include <dimwise/ranks/messages/communicator_definitions.hpp>
#include <dimwise/ranks/training/stages.hpp>
#include <dimwise/support/text_warning.hpp>

#include <algorithm>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::detail {

// Narayanan et al. 2021, figure 4. Messages to a neighbour are in the order of the micro-batches in both directions,
// and no stage waits until what it sends has arrived, so stages never wait for each other in a circle.
DIMWISE_DETAIL_LIBRARY void run_schedule(micro_batch_steps& steps, std::size_t batches,
                                         const ranks::communicator& stages) {
  std::vector<std::size_t> counts(stages.size(), batches);
  const std::vector<std::size_t> one(stages.size(), 1);
  stages.all_gather(&batches, counts.data(), one.data(), "number of micro-batches");
  for (std::size_t stage = 1; stage < counts.size(); ++stage) {
    if (counts[stage] != counts[0]) {
      raise<extent_error>(error{} << "value_and_gradient: stage 0 has " << counts[0] << " micro-batches, and stage "
                                  << stage << " has " << counts[stage]);
    }
  }
  const std::size_t ahead = std::min(stages.size() - 1 - stages.rank(), batches);
  for (std::size_t batch = 0; batch < ahead; ++batch) { steps.forward(batch); }
  for (std::size_t batch = ahead; batch < batches; ++batch) {
    steps.forward(batch);
    steps.backward(batch - ahead);
  }
  for (std::size_t batch = batches - ahead; batch < batches; ++batch) { steps.backward(batch); }
}

}  // namespace dimwise::detail
DIMWISE_DETAIL_TEXT_END;
