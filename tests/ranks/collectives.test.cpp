// tests/ranks/collectives.test.cpp -- every collective on threads (std::thread), against loops, bit for bit.
// SPDX-License-Identifier: BSL-1.0
#include "checks.hpp"
#include "support/threads.hpp"
#include <dimwise/ranks/threads.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <vector>

namespace {

namespace ranks = dimwise::ranks;

TEST_CASE("collectives of one rank") { rank_checks::check_collectives(ranks::communicator{}); }

TEST_CASE("collectives of several threads equal loops" * support::threads) {
  for (const std::size_t count : {1U, 2U, 3U, 4U, 7U}) {
    for (const bool checks : {true, false}) {
      CAPTURE(count);
      CAPTURE(checks);
      std::atomic<std::size_t> finished = 0;
      ranks::run_threads(count, [&](const ranks::communicator& world) {
        rank_checks::check_collectives(world);
        ++finished;
      }, {.checks = checks});
      CHECK(finished == count);
    }
  }
}

TEST_CASE("a barrier of threads waits for every thread" * support::threads) {
  std::atomic<int> arrived = 0;
  std::array<int, 5> seen{};
  ranks::run_threads(5, [&](const ranks::communicator& world) {
    std::this_thread::sleep_for(std::chrono::milliseconds(world.rank() * 5));
    ++arrived;
    world.barrier();
    seen[world.rank()] = arrived;
  });
  for (const int one : seen) { CHECK(one == 5); }
}

TEST_CASE("sums of threads have the same bits in every run" * support::threads) {
  std::vector<float> first;
  for (int run = 0; run < 20; ++run) {
    std::vector<float> sums(3000);
    ranks::run_threads(4, [&](const ranks::communicator& world) {
      std::this_thread::sleep_for(
          std::chrono::microseconds((world.rank() * 7 + static_cast<std::size_t>(run)) % 5 * 50));
      std::vector<float> mine = rank_checks::values<float>(world.rank(), 3000);
      world.all_reduce(mine.data(), mine.size());
      if (world.rank() == 2) { sums = mine; }
    });
    if (run == 0) { first = sums; }
    CHECK(sums == first);
  }
}

}  // namespace
