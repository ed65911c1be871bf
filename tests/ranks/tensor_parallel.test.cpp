// tests/ranks/tensor_parallel.test.cpp -- layers that ranks divide, over threads (std::thread). tests/ranks/mpi/ runs
// the same checks over processes.
// SPDX-License-Identifier: BSL-1.0
#include "ranks/layer_checks.hpp"
#include "ranks/on_threads.hpp"
#include "support/threads.hpp"

#include <doctest/doctest.h>

using rank_checks::on_threads;

TEST_CASE("a tensor-parallel feed-forward layer has the bits of its parts, forward and backward, over threads" *
          support::threads) {
  on_threads(layer_checks::check_feed_forward);
}
TEST_CASE("tensor-parallel attention has the bits of its parts, forward and backward, over threads" *
          support::threads) {
  on_threads(layer_checks::check_attention);
}
TEST_CASE("norms over a rank's part of the positions have the gradient of the whole, over threads" * support::threads) {
  on_threads(layer_checks::check_norms);
}
