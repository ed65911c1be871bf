// tests/ranks/ring_attention.test.cpp -- attention over keys that threads (std::thread) share: the bits of one rank
// that merges the same parts in the same order, and float64 attention over all keys.
// SPDX-License-Identifier: BSL-1.0
#include "ring_checks.hpp"
#include <dimwise/ranks/threads.hpp>

#include <doctest/doctest.h>

namespace {

void on_threads(void (*check)(const dimwise::ranks::communicator&)) {
  for (const std::size_t ranks : {1U, 2U, 4U}) {
    CAPTURE(ranks);
    dimwise::ranks::run_threads(ranks, check, {.checks = true});
  }
}

}  // namespace

TEST_CASE("ring_attention of 1, 2 and 4 threads has the bits of one rank, under masks and biases") {
  on_threads(&ring_checks::check_forward<>);
}
