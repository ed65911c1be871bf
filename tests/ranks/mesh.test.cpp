// tests/ranks/mesh.test.cpp -- ranks as a grid of mesh axes, on threads (std::thread).
// SPDX-License-Identifier: BSL-1.0
#include "support/threads.hpp"
#include <dimwise/ranks/mesh.hpp>
#include <dimwise/ranks/threads.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

namespace ranks = dimwise::ranks;

// What `mesh` needs of a mesh axis.
template <std::size_t N = dimwise::at_run_time>
struct axis {
  static constexpr std::size_t static_extent = N;
  std::size_t count = N;
  [[nodiscard]] std::size_t ranks() const { return count; }
};
struct dp : axis<> {};
struct tp : axis<2> {};
struct sp : axis<> {};
struct pp : axis<1> {};

template <class F>
std::string text_of(std::size_t count, F f) {
  try {
    ranks::run_threads(count, f);
  } catch (const dimwise::error& thrown) { return thrown.what(); }
  return "none";
}

TEST_CASE("threads have coordinates, the last axis varies fastest" * support::threads) {
  ranks::run_threads(6, [](const ranks::communicator& world) {
    const ranks::mesh grid(world, dp{3}, tp{});
    static_assert(std::is_same_v<decltype(grid), const ranks::mesh<dp, tp>>);
    CHECK(grid.count<dp>() == 3);
    CHECK(grid.count<tp>() == 2);
    CHECK(grid.coordinate<dp>() == world.rank() / 2);
    CHECK(grid.coordinate<tp>() == world.rank() % 2);
    CHECK(grid.along<dp>().rank_in_world(2) == 4 + world.rank() % 2);
    CHECK(grid.world().size() == 6);
    double rank = static_cast<double>(world.rank());
    grid.along<dp>().all_reduce(&rank, 1, "rank");
    CHECK(rank == (world.rank() % 2 == 0 ? 0 + 2 + 4 : 1 + 3 + 5));
  });
}

TEST_CASE("three axes, and one of them has the threads that are left" * support::threads) {
  ranks::run_threads(8, [](const ranks::communicator& world) {
    {
      const ranks::mesh<dp, pp, tp> grid(world);
      CHECK(grid.count<dp>() == 4);
      CHECK(grid.count<pp>() == 1);
    }
    const ranks::mesh other(world, dp{2}, tp{}, sp{2});
    CHECK(other.coordinate<dp>() == world.rank() / 4);
    CHECK(other.coordinate<tp>() == world.rank() / 2 % 2);
    CHECK(other.coordinate<sp>() == world.rank() % 2);
  });
}

TEST_CASE("two meshes of a thread that have an axis along other ranks" * support::threads) {
  const auto error_of = [](auto first, auto second) {
    return text_of(4, [&](const ranks::communicator& world) {
      const auto one = first(world);
      const auto other = second(world);
    });
  };
  const auto in_rows = [](const ranks::communicator& world) { return ranks::mesh(world, sp{2}, tp{}); };
  const auto in_columns = [](const ranks::communicator& world) { return ranks::mesh(world, tp{}, sp{2}); };
  const std::string text = error_of(in_rows, in_columns);
  CAPTURE(text);
  CHECK(text.find("mesh: the axis tp goes along ranks ") != std::string::npos);
  CHECK(text.find(", and in another mesh along ranks ") != std::string::npos);
  CHECK(text.find("; declare another axis type, or end the other mesh first (R25)") != std::string::npos);
  // The same ranks, another axis, and a mesh that has ended.
  CHECK(error_of(in_rows, in_rows) == "none");
  CHECK(error_of(in_rows, [](const ranks::communicator& world) { return ranks::mesh(world, dp{4}); }) == "none");
  CHECK(text_of(4, [&](const ranks::communicator& world) {
    (void)in_rows(world);
    (void)in_columns(world);
  }) == "none");
  // On one rank alone: all of them throw.
  ranks::run_threads(4, [](const ranks::communicator& world) {
    const ranks::communicator half = world.split(world.rank() / 3, "half");
    CHECK_THROWS_AS(([&] {
      const ranks::mesh<dp> of_half(half);
      const ranks::mesh<dp> of_all(world);
    }()),
                    ranks::rank_error);
    const ranks::mesh<dp> of_all(world);
    CHECK(of_all.count<dp>() == 4);
  });
}

TEST_CASE("one rank is a mesh of every axis with one rank") {
  const ranks::mesh<dp> grid{ranks::communicator{}};
  CHECK(grid.count<dp>() == 1);
  CHECK(grid.coordinate<dp>() == 0);
  static_assert(grid.has<dp> && !grid.has<tp>);
}

TEST_CASE("counts that do not fit the number of threads are rejected" * support::threads) {
  CHECK(text_of(6, [](const ranks::communicator& world) {
    (void)ranks::mesh(world, dp{2}, tp{});
  }).find("mesh: 6 ranks do not form a grid of dp 2 x tp 2") != std::string::npos);
  CHECK(text_of(3, [](const ranks::communicator& world) {
    (void)ranks::mesh<dp, tp>(world);
  }).find("mesh: 3 ranks do not form a grid of dp any number x tp 2") != std::string::npos);
  CHECK(text_of(3, [](const ranks::communicator& world) {
    (void)ranks::mesh(world, tp{{3}});
  }).find("mesh: the axis tp has 2 ranks by its type, and 3 were given") != std::string::npos);
  CHECK(text_of(2, [](const ranks::communicator& world) {
    (void)ranks::mesh(world, dp{0}, tp{});
  }).find("mesh: 2 ranks do not form a grid of dp 0 x tp 2") != std::string::npos);
}

}  // namespace
