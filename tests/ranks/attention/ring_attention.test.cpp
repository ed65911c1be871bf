// tests/ranks/attention/ring_attention.test.cpp -- attention over keys that threads (std::thread) share: the bits of
// one rank that merges the same parts in the same order, and float64 attention over all keys.
// SPDX-License-Identifier: BSL-1.0
#include "ranks/attention/ring_checks.hpp"
#include "ranks/on_threads.hpp"
#include "support/threads.hpp"

#include <doctest/doctest.h>

using rank_checks::on_threads;

TEST_CASE("ring_attention of 1, 2 and 4 threads has the bits of one rank, under masks and biases" * support::threads) {
  on_threads(&ring_checks::check_forward<>);
}
