// tests/ranks/kv_cache.test.cpp -- the KV cache of a text that threads (std::thread) share, against the cache of one.
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

TEST_CASE("a KV cache that 1, 2 and 4 threads share has the keys and the attention of one rank") {
  on_threads(&ring_checks::check_cache<>);
}
