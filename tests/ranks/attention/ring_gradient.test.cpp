// tests/ranks/attention/ring_gradient.test.cpp -- the gradients of attention that threads (std::thread) share: the bits
// of one rank that adds the same terms in the same order, and float64 attention over all keys.
// SPDX-License-Identifier: BSL-1.0
#include "ranks/attention/ring_checks.hpp"
#include "ranks/on_threads.hpp"
#include "support/threads.hpp"

#include <doctest/doctest.h>

using rank_checks::on_threads;

TEST_CASE("ring_attention: its gradients of 1, 2 and 4 threads have the bits of one rank" * support::threads) {
  on_threads(&ring_checks::check_backward<>);
}

TEST_CASE("ring_attention of whole queries, and its gradients, have the same bits on all threads" * support::threads) {
  on_threads(&ring_checks::check_whole_queries<>);
}
