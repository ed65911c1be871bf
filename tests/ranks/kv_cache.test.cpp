// tests/ranks/kv_cache.test.cpp -- the KV cache of a text that threads (std::thread) share, against the cache of one.
// SPDX-License-Identifier: BSL-1.0
#include "on_threads.hpp"
#include "ranks/attention/ring_checks.hpp"
#include "support/threads.hpp"

#include <doctest/doctest.h>

using rank_checks::on_threads;

TEST_CASE("a KV cache that 1, 2 and 4 threads share has the keys and the attention of one rank" * support::threads) {
  on_threads(&ring_checks::check_cache<>);
}
