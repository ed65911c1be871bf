// tests/ranks/failures.test.cpp -- threads (std::thread) as ranks that throw, end early, are late or call something
// else: the others end with a message.
// SPDX-License-Identifier: BSL-1.0
#include "support/threads.hpp"
#include <dimwise/ranks/threads.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace ranks = dimwise::ranks;
using namespace std::chrono_literals;

// The error of a program on ranks.
template <class F>
ranks::rank_error error_of(std::size_t count, F f, ranks::options how = {}) {
  try {
    ranks::run_threads(count, f, how);
  } catch (const ranks::rank_error& thrown) { return thrown; }
  return ranks::rank_error("none was thrown");
}
bool says(const ranks::rank_error& thrown, const char* text) {
  return std::string(thrown.what()).find(text) != std::string::npos;
}

void sum_of_one(const ranks::communicator& world) {
  float one = 1;
  world.all_reduce(&one, 1, "loss []");
}

TEST_CASE("a thread that throws ends the threads that wait for it" * support::threads) {
  for (const std::size_t bad : {0U, 1U, 3U}) {
    const ranks::rank_error thrown = error_of(4, [&](const ranks::communicator& world) {
      if (world.rank() == bad) { throw std::runtime_error("no such file"); }
      sum_of_one(world);
    });
    CHECK(thrown.rank() == bad);
    CHECK(std::string(thrown.what()) == "rank " + std::to_string(bad) + " of 4: no such file");
    CHECK_THROWS_AS(std::rethrow_exception(thrown.cause()), std::runtime_error);
  }
}

TEST_CASE("a thread that throws ends threads that wait in every collective" * support::threads) {
  using collective = void (*)(const ranks::communicator&);
  const collective all[] = {
      [](const ranks::communicator& world) { world.barrier(); },
      sum_of_one,
      [](const ranks::communicator& world) {
    std::vector<double> many(5000, 1.0);
    world.all_reduce(many.data(), many.size());
  },
      [](const ranks::communicator& world) {
    int value = 1;
    world.broadcast(&value, 1, 2);
  },
      [](const ranks::communicator& world) { (void)world.split(0, "all"); },
      [](const ranks::communicator& world) {
    std::vector<float> sent(100);
    std::vector<float> received(100);
    ranks::request one =
        world.permute(sent.data(), 100, (world.rank() + 1) % 3, received.data(), 100, (world.rank() + 2) % 3);
    one.wait();
  },
      [](const ranks::communicator& world) {  // never waited for: its memory goes before the message has arrived
    std::vector<float> sent(100);
    std::vector<float> received(100);
    const ranks::request one =
        world.permute(sent.data(), 100, (world.rank() + 1) % 3, received.data(), 100, (world.rank() + 2) % 3);
    world.barrier();
  }};
  for (const bool checks : {true, false}) {
    for (const collective one : all) {
      const ranks::rank_error thrown = error_of(3, [&](const ranks::communicator& world) {
        if (world.rank() == 2) { throw std::logic_error("stop"); }
        one(world);
      }, {.checks = checks});
      CHECK(std::string(thrown.what()) == "rank 2 of 3: stop");
    }
  }
}

TEST_CASE("an exception that is not a std::exception, and text that would move a cursor, from threads" *
          support::threads) {
  CHECK(std::string(error_of(2, [](const ranks::communicator&) { throw 5; }).what()).find("is not a std::exception") !=
        std::string::npos);
  CHECK(says(error_of(1, [](const ranks::communicator&) { throw std::runtime_error("a\x1b[2Jb"); }), "a\\x1b[2Jb"));
}

TEST_CASE("threads that call different collectives throw both texts" * support::threads) {
  const ranks::rank_error thrown = error_of(2, [](const ranks::communicator& world) {
    std::vector<float> values(6);
    if (world.rank() == 0) {
      world.all_reduce(values.data(), 6, "gradient [batch 2, seq 3]");
    } else {
      world.broadcast(values.data(), 6, 0, "weights [d_model 6]");
    }
  });
  CHECK(says(thrown,
             "ranks call different collectives: rank 0 calls all_reduce of 6 float: gradient [batch 2, seq 3]; "
             "rank 1 calls broadcast from 0 of 6 float: weights [d_model 6]"));
}

TEST_CASE("threads that differ in the shape, the element type, the count or the operation only" * support::threads) {
  const auto of = [](auto call) {
    const ranks::rank_error thrown = error_of(4, call);
    CAPTURE(thrown.what());
    CHECK(says(thrown, "ranks call different collectives: ranks 0, 1, 3 call "));
    CHECK(says(thrown, "; rank 2 calls "));
  };
  of([](const ranks::communicator& world) {
    float x[4] = {};
    world.all_reduce(x, 4, world.rank() == 2 ? "[seq 2, batch 2]" : "[batch 2, seq 2]");
  });
  of([](const ranks::communicator& world) {
    float x[4] = {};
    std::int32_t y[4] = {};
    if (world.rank() == 2) {
      world.all_reduce(y, 4);
    } else {
      world.all_reduce(x, 4);
    }
  });
  of([](const ranks::communicator& world) {
    float x[4] = {};
    world.all_reduce(x, world.rank() == 2 ? 3 : 4);
  });
  of([](const ranks::communicator& world) {
    float x[4] = {};
    world.all_reduce(x, 4, "", world.rank() == 2 ? ranks::reduction::max : ranks::reduction::sum);
  });
  of([](const ranks::communicator& world) {
    float x[4] = {};
    world.broadcast(x, 4, world.rank() == 2 ? 1 : 0);
  });
}

TEST_CASE("threads that differ in a group name the group, and their numbers in the world" * support::threads) {
  const ranks::rank_error thrown = error_of(4, [](const ranks::communicator& world) {
    const ranks::communicator pair = world.split(world.rank() / 2, "along tp");
    float x[4] = {};
    pair.all_reduce(x, world.rank() == 3 ? 2 : 4, "x");
  });
  CHECK(says(thrown,
             "ranks call different collectives (along tp): rank 2 calls all_reduce of 4 float: x; rank 3 calls "
             "all_reduce of 2 float: x"));
}

TEST_CASE("without checks, threads whose counts differ throw the bytes of both" * support::threads) {
  const ranks::rank_error thrown = error_of(2, [](const ranks::communicator& world) {
    float x[4] = {};
    world.all_reduce(x, world.rank() == 0 ? 4 : 3, "x");
  }, {.checks = false});
  CAPTURE(thrown.what());
  CHECK(says(thrown, "ranks disagree: rank "));
  CHECK(says(thrown, "16 bytes"));
  CHECK(says(thrown, "12 bytes"));
}

TEST_CASE("parts that do not fit are rejected on threads" * support::threads) {
  // With checks as well: the lengths of all_to_all and permute differ between ranks.
  CHECK(says(error_of(2,
                      [](const ranks::communicator& world) {
    const float sent[4] = {};
    float received[4] = {};
    const std::size_t counts[2] = {1, 1};
    const std::size_t other[2] = {1, 2};
    world.all_to_all(sent, counts, received, world.rank() == 0 ? other : counts, "tokens");
  }),
             "ranks disagree: rank "));
  CHECK(says(error_of(2,
                      [](const ranks::communicator& world) {
    const float sent[4] = {};
    float received[4] = {};
    const std::size_t partner = 1 - world.rank();
    world.permute(sent, 2, partner, received, world.rank() == 0 ? 3 : 2, partner, "block").wait();
  }),
             "in permute of float: block"));
  CHECK(says(error_of(2,
                      [](const ranks::communicator& world) {
    const float sent[4] = {};
    float received[4] = {};
    (void)world.permute(sent, 2, 5, received, 2, 0);
  }),
             "permute: world has 2 ranks and no rank 5"));
  CHECK(says(error_of(2,
                      [](const ranks::communicator& world) {
    float x = 0;
    world.broadcast(&x, 1, 2);
  }),
             "broadcast: world has 2 ranks and no rank 2"));
}

TEST_CASE("a thread that is late is named after the limit" * support::threads) {
  for (const bool checks : {true, false}) {
    const auto start = std::chrono::steady_clock::now();
    const ranks::rank_error thrown = error_of(3, [](const ranks::communicator& world) {
      if (world.rank() == 2) { std::this_thread::sleep_for(600ms); }
      sum_of_one(world);
    }, {.checks = checks, .limit = 100ms});
    CAPTURE(thrown.what());
    CHECK(says(thrown, "has waited 0.1 s for rank 2 in all_reduce of 1 float: loss []: that rank is late"));
    CHECK(std::chrono::steady_clock::now() - start < 30s);
  }
}

TEST_CASE("the limit of one call of threads" * support::threads) {
  const ranks::rank_error thrown = error_of(2, [](const ranks::communicator& world) {
    world.set_limit(50ms);
    if (world.rank() == 1) { std::this_thread::sleep_for(400ms); }
    world.barrier("before the evaluation");
  });
  CHECK(says(thrown, "has waited 0.05 s for rank 1 in barrier: before the evaluation"));
}

TEST_CASE("a thread that has returned is named immediately" * support::threads) {
  const ranks::rank_error thrown = error_of(3, [](const ranks::communicator& world) {
    if (world.rank() != 1) { sum_of_one(world); }
  });
  CAPTURE(thrown.what());
  CHECK(says(thrown, "rank 1 has ended, and rank "));
  CHECK(says(thrown, " waits for it in all_reduce of 1 float: loss []"));
}

TEST_CASE("threads that agree may go on after an exception, threads that lost messages may not" * support::threads) {
  ranks::run_threads(2, [](const ranks::communicator& world) {
    float x[2] = {};
    CHECK_THROWS_AS(world.all_reduce(x, world.rank() + 1), ranks::rank_error);
    sum_of_one(world);
  }, {.checks = true});
  const ranks::rank_error thrown = error_of(2, [](const ranks::communicator& world) {
    if (world.rank() == 1) { std::this_thread::sleep_for(300ms); }
    world.set_limit(50ms);
    try {
      world.barrier();
    } catch (const ranks::rank_error&) {}
    sum_of_one(world);
  });
  CAPTURE(thrown.what());
  CHECK(says(thrown, "an earlier call failed, so rank 0 cannot call all_reduce of 1 float: loss []"));
}

TEST_CASE("no threads" * support::threads) {
  CHECK_THROWS_AS(ranks::run_threads(0, sum_of_one), dimwise::number_error);
}

}  // namespace
