// tests/ranks/mpi/attention.cpp -- attention over ranks for tests/ranks/mpi/program.cpp, on any backend.
// SPDX-License-Identifier: BSL-1.0
#include "attention.hpp"

#include "ranks/attention/ring_checks.hpp"

void check_attention(const dimwise::ranks::communicator& world) {
  ring_checks::check_forward(world);
  ring_checks::check_backward(world);
  ring_checks::check_whole_queries(world);
  ring_checks::check_cache(world);
}
