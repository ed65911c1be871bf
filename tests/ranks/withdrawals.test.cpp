// tests/ranks/withdrawals.test.cpp -- threads (std::thread) as ranks that throw inside an operation and catch the
// exception: the others throw at once, with the rank and its text; ranks that agree go on.
// SPDX-License-Identifier: BSL-1.0
#include "parted_module.hpp"
#include "support/threads.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/nn/model.hpp>
#include <dimwise/ranks/cross_entropy.hpp>
#include <dimwise/ranks/kv_cache.hpp>
#include <dimwise/ranks/ring_attention.hpp>
#include <dimwise/ranks/threads.hpp>
#include <dimwise/ranks/training.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace dimwise;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct words : feature_dim<4> {};
struct features : feature_dim<3> {};
struct sp : mesh_axis<> {};
struct two : mesh_axis<2> {};
using seq_here = shard<seq, sp>;
using key_here = shard<key, sp>;

constexpr std::chrono::seconds limit{60};  // far above what a test takes

// What each rank catches, "" if nothing. Ranks that hang fail after the limit.
template <class F>
std::vector<std::string> caught(std::size_t count, const F& f, bool checks = true) {
  std::vector<std::string> texts(count);
  std::atomic<std::size_t> finished = 0;
  const auto start = std::chrono::steady_clock::now();
  ranks::run_threads(count, [&](const ranks::communicator& world) {
    try {
      f(world);
    } catch (const std::exception& thrown) { texts[world.rank()] = thrown.what(); }
    // A rank that has ended would end the others as well.
    ++finished;
    while (finished < count) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
  }, {.checks = checks, .limit = limit});
  CHECK(std::chrono::steady_clock::now() - start < limit / 2);
  return texts;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Rank 1 throws the text of its own error, and all others one that names rank 1, the operation and the text.
void check_named(const std::vector<std::string>& texts, const std::string& operation, const std::string& text) {
  for (std::size_t r = 0; r < texts.size(); ++r) {
    CAPTURE(r);
    CAPTURE(texts[r]);
    CHECK(has(texts[r], text));
    CHECK(has(texts[r], "rank 1 in " + operation + ": ") == (r != 1));
  }
}

TEST_CASE("a thread whose operand throws ends the others, in every collective on tensors" * support::threads) {
  for (const bool checks : {true, false}) {
    const auto with_bad_id = [&](const auto& call) {
      return caught(3, [&](const ranks::communicator& world) {
        const ranks::mesh<sp> grid(world);
        const tensor<float, words, features> table;
        const tensor<id<words>, seq> ids(std::vector<std::size_t>{0, world.rank() == 1 ? 4U : 3U, 1});
        call(grid, table, ids);
      }, checks);
    };
    check_named(with_bad_id([](const auto& grid, const auto& table, const auto& ids) {
      const tensor<float, seq_here, features> x(seq_here{2});
      const tensor<float, features, partial<sp>> term = sum<seq_here>(x);
      (void)all_reduce<sp>(term * sum<seq>(gather<words>(table, ids)), grid);
    }),
                "all_reduce", "4");
    // Without checks, rank 2 waits for rank 0 only, and may have its elements already.
    if (!checks) { continue; }
    check_named(with_bad_id([](const auto& grid, const auto& table, const auto& ids) {
      (void)broadcast_from<sp>(gather<words>(table, ids), 0, grid);
    }),
                "broadcast_from", "4");
  }
}

TEST_CASE("a thread that withdraws ends the others" * support::threads) {
  check_named(caught(4,
                     [](const ranks::communicator& world) {
    if (world.rank() == 1) { world.withdraw(std::make_exception_ptr(std::runtime_error("no such file")), "a reader"); }
    world.barrier();
  }),
              "a reader", "");
}

TEST_CASE("a thread that throws in ring_attention ends the others" * support::threads) {
  const auto texts = caught(3, [](const ranks::communicator& world) {
    const ranks::mesh<sp> grid(world);
    const auto rank = world.rank();
    const seq_here queries = part_here<seq_here>(seq{9}, rank, 3);
    const key_here keys = part_here<key_here>(key{9}, rank, 3);
    const tensor<float, seq_here, features> q(queries);
    const tensor<float, key_here, features> k(keys), v(keys);
    const auto mask = rank == 1 ? causal<seq_here, key_here>(queries, keys) : causal<seq_here, key_here>();
    (void)ring_attention<key_here>(masked(scores<features>(q, k), mask), v, grid);
  });
  check_named(texts, "ring_attention", "a mask or a bias says where");
}

TEST_CASE("a thread whose loss throws after a collective ends the others in the backward pass" * support::threads) {
  const auto texts = caught(3, [](const ranks::communicator& world) {
    const ranks::mesh<sp> grid(world);
    const tensor<float, seq_here, features> x(part_here<seq_here>(seq{6}, world.rank(), 3));
    const tensor<float, features> w;
    (void)value_and_gradient(w, [&](const auto& p) {
      const tensor y = all_reduce<sp>(sum<seq_here>(x * p), grid);
      if (world.rank() == 1) { throw std::runtime_error("no such example"); }
      return all_reduce<sp>(sum<seq_here, features>(square(x * p)), grid) + sum<features>(y);
    });
  });
  check_named(texts, "value_and_gradient", "no such example");
}

TEST_CASE("a thread whose stripe of a prompt does not fit ends the others" * support::threads) {
  using stripe = shard<key, two, striped>;
  using cache =
      ranks::kv_cache<stripe, nn::capacity<8>, nn::keys<float, stripe, features>, nn::values<float, stripe, features>>;
  const auto texts = caught(2, [](const ranks::communicator& world) {
    const ranks::mesh<two> grid(world);
    cache c(grid);
    const std::size_t rank = world.rank();
    const tensor<float, stripe, features> k(part_here<stripe>(starting_at(key{4}, rank == 1 ? 2 : 0), rank, 2));
    c.append_part(k, k);
  });
  check_named(texts, "append_part", "the first position of");
}

TEST_CASE("a thread that throws while the ranks save a module ends the others, along all axes" * support::threads) {
  for (const bool of_world : {true, false}) {
    const auto texts = caught(2, [&](const ranks::communicator& world) {
      const ranks::mesh<two> grid(world);
      ranks::detail::taking_part_in(grid, "save", [&] {
        if (world.rank() == 1) { throw std::runtime_error("no memory"); }
        (of_world ? world : grid.along<two>()).barrier();
      });
    });
    check_named(texts, "save", "no memory");
  }
}

TEST_CASE("an error goes from thread to thread, where one waits for another one that waits" * support::threads) {
  const auto texts = caught(4, [](const ranks::communicator& world) {
    ranks::detail::taking_part(world, "a line", [&] {
      float x = 0;
      const std::size_t rank = world.rank();
      if (rank == 1) { throw std::runtime_error("stop"); }
      // Rank 2 waits for rank 1, rank 3 for rank 2, and rank 0 for rank 3.
      const std::size_t before = rank == 0 ? 3 : rank - 1;
      (void)world.permute(&x, 0, ranks::no_rank, &x, 1, before).wait();
    });
  }, false);
  check_named(texts, "a line", "stop");
}

TEST_CASE("a sum under way that an exception destroys ends the others" * support::threads) {
  const auto texts = caught(3, [](const ranks::communicator& world) {
    ranks::detail::taking_part(world, "a sum", [&] {
      std::vector<float> x(5000);
      ranks::request sum = world.start_all_reduce(x.data(), x.size());
      if (world.rank() == 1) { throw std::runtime_error("stop"); }
      sum.wait();
    });
  });
  check_named(texts, "a sum", "stop");
}

TEST_CASE("a thread that waits for a message of one that throws ends, and neither goes on" * support::threads) {
  const auto texts = caught(2, [](const ranks::communicator& world) {
    try {
      ranks::detail::taking_part(world, "a stage", [&] {
        float x = 0;
        if (world.rank() == 1) { throw std::runtime_error("stop"); }
        world.start_receive(&x, 1, 1).wait();
      });
    } catch (const std::exception&) {
      CHECK_THROWS_AS(world.barrier("the next step"), ranks::rank_error);
      throw;
    }
  });
  check_named(texts, "a stage", "stop");
}

TEST_CASE("a thread waits for no message of one that threw in a later collective" * support::threads) {
  const auto texts = caught(2, [](const ranks::communicator& world) {
    float x = 1;
    if (world.rank() == 0) {
      world.start_receive(&x, 1, 1).wait();
      ranks::request next = world.start_receive(&x, 1, 1);  // before the broadcast that rank 1 calls first
      float y = 0;
      world.broadcast(&y, 1, 1);
      next.wait();
    } else {
      world.start_send(&x, 1, 0).wait();
      world.broadcast(&x, 1, 1);
      ranks::detail::taking_part(world, "a stage", [] { throw std::runtime_error("stop"); });
    }
  });
  check_named(texts, "a stage", "stop");
}

TEST_CASE("a thread that asks whether a message is done ends" * support::threads) {
  const auto texts = caught(2, [](const ranks::communicator& world) {
    ranks::detail::taking_part(world, "a stage", [&] {
      if (world.rank() == 1) { throw std::runtime_error("stop"); }
      float mine = 1, other = 0;
      ranks::request one = world.permute(&mine, 1, 1, &other, 1, 1);
      const auto start = std::chrono::steady_clock::now();
      while (!one.done() && std::chrono::steady_clock::now() - start < limit) {}
    });
  }, false);
  check_named(texts, "a stage", "stop");
}

TEST_CASE("a thread that has thrown sends no message before the others agree" * support::threads) {
  (void)caught(2, [](const ranks::communicator& world) {
    float x = 1;
    world.withdraw(std::make_exception_ptr(std::runtime_error("on both")));
    CHECK_THROWS_AS((void)world.start_send(&x, 1, 1 - world.rank()), ranks::rank_error);
    world.barrier();
    if (world.rank() == 0) {
      world.start_send(&x, 1, 1).wait();
    } else {
      world.start_receive(&x, 1, 0).wait();
    }
  });
}

TEST_CASE("a thread receives one message of a rank after the other" * support::threads) {
  ranks::run_threads(2, [](const ranks::communicator& world) {
    float a = 1, b = 2;
    if (world.rank() == 0) {
      ranks::request first = world.start_send(&a, 1, 1), second = world.start_send(&b, 1, 1);
      first.wait();
      second.wait();
      return;
    }
    ranks::request first = world.start_receive(&b, 1, 0);
    CHECK_THROWS_AS((void)world.start_receive(&a, 1, 0), ranks::rank_error);
    first.wait();
    CHECK(b == 1);
    world.start_receive(&a, 1, 0).wait();
    CHECK(a == 2);
  }, {.limit = limit});
}

struct part_of_layers {
  using part = shard<features, sp>;
  using layer = tensor<float, part>;
  std::vector<layer> all{};
  using members = nn::member_list<&part_of_layers::all>;
};

TEST_CASE("a thread that rejects the limit of a norm ends the others" * support::threads) {
  const auto clipped = caught(2, [](const ranks::communicator& world) {
    const ranks::mesh<sp> grid(world);
    using part = part_of_layers::part;
    const part_of_layers gradient{{part_of_layers::layer(part_here<part>(features{}, world.rank(), 2))}};
    (void)clip_norm(gradient, world.rank() == 1 ? -1.0 : 1.0, grid);
  });
  check_named(clipped, "clip_norm", "the limit is -1, a number of 0 or more is expected");
}

// A model of which a thread cannot move the gradient a second time.
struct moved_once {
  tensor<float, features> w{};
  using members = nn::member_list<&moved_once::w>;
  static int& moves_left() {
    static thread_local int left = -1;
    return left;
  }
  moved_once() = default;
  moved_once(moved_once&& from) : w(from.w) {
    if (moves_left()-- == 0) { throw std::runtime_error("no room"); }
  }
};

TEST_CASE("a thread that throws after the messages of a loss and its gradient ends the others" * support::threads) {
  const auto texts = caught(3, [](const ranks::communicator& world) {
    const ranks::mesh<sp> grid(world);
    value_with_gradient<tensor<float, partial<sp>>, partial_gradient<moved_once, sp>> one{};
    moved_once::moves_left() = world.rank() == 1 ? 1 : -1;
    (void)all_reduce<sp>(std::move(one), grid);
    grid.along<sp>().barrier();
  });
  check_named(texts, "all_reduce", "no room");
}

TEST_CASE("threads that have all thrown before the same call go on, and others do not" * support::threads) {
  ranks::run_threads(3, [](const ranks::communicator& world) {
    const ranks::mesh<sp> grid(world);
    for (int round = 0; round < 3; ++round) {
      const tensor<float, words, features> table;
      const tensor<id<words>, seq> ids(std::vector<std::size_t>{0, 4});
      CHECK_THROWS_AS((void)broadcast_from<sp>(gather<words>(table, ids), 0, grid), index_error);
      float one = 1;
      grid.along<sp>().all_reduce(&one, 1);
      CHECK(one == 3);
    }
  }, {.limit = limit});
  const auto texts = caught(2, [](const ranks::communicator& world) {
    if (world.rank() == 1) { world.withdraw(std::make_exception_ptr(std::runtime_error("late"))); }
    float one = 1;
    world.all_reduce(&one, 1, "loss []");
  });
  CHECK(has(texts[0], "rank 1: late (rank 0 waits for rank 1 in all_reduce of 1 float: loss [])"));
  CHECK(has(texts[1], "an earlier call failed, so rank 1 cannot call all_reduce"));
}

TEST_CASE("the exception of the thread that threw is the cause" * support::threads) {
  ranks::run_threads(2, [](const ranks::communicator& world) {
    if (world.rank() == 1) { return world.withdraw(std::make_exception_ptr(std::out_of_range("here"))); }
    try {
      world.barrier();
    } catch (const ranks::rank_error& thrown) {
      CHECK(thrown.rank() == 1);
      CHECK_THROWS_AS(std::rethrow_exception(thrown.cause()), std::out_of_range);
    }
  });
}

}  // namespace
