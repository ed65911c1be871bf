// tests/ranks/typed_collectives.test.cpp -- collectives on tensors, over threads (std::thread): 1, 2 and 4 ranks give
// the bits of one.
//
// SPDX-License-Identifier: BSL-1.0
#include "on_threads.hpp"
#include "support/numbers.hpp"
#include "support/threads.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/ranks/collectives.hpp>
#include <dimwise/ranks/threads.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

namespace {

using namespace dimwise;
using dimwise_test::el;
using rank_checks::on_threads;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_model : feature_dim<6> {};
struct hidden : feature_dim<> {};
struct vocab : choice_dim<> {};
struct tp : mesh_axis<> {};
template <std::size_t N>
struct sp : mesh_axis<N> {};

using hidden_here = shard<hidden, tp>;
using batch_here = shard<batch, tp>;

// A whole number for each element: sums of them are exact, in any order.
template <class... I>
float number_at(I... i) {
  std::size_t all = 7;
  ((all = all * 31 + i + 1), ...);
  return static_cast<float>(all % 17) - 8;
}
template <class Tensor, std::size_t... At>
void fill(Tensor& to, std::size_t rows, std::size_t columns, const auto& place) {
  float* const elements = to.data();
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) { elements[i * columns + j] = place(i, j); }
  }
  to.seal();
}

// The first element of this rank's part of `n`, and its extent.
struct span_here {
  std::size_t first;
  std::size_t extent;
};
span_here part(std::size_t n, const ranks::communicator& world) {
  const std::size_t rank = world.rank(), count = world.size();
  return {rank * (n / count) + std::min(rank, n % count), n / count + (rank < n % count ? 1 : 0)};
}

}  // namespace

TEST_CASE("a feed-forward layer that ranks divide gives the bits of one rank, over threads" * support::threads) {
  for (const std::size_t width : {4U, 7U, 3U}) {
    CAPTURE(width);
    tensor<float, batch, d_model> x(batch{3});
    fill(x, 3, 6, [](auto i, auto j) { return number_at(i, j); });
    tensor<float, d_model, hidden> up(hidden{width});
    fill(up, 6, width, [](auto i, auto j) { return number_at(i, j, 1); });
    tensor<float, hidden, d_model> down(hidden{width});
    fill(down, width, 6, [](auto i, auto j) { return number_at(i, j, 2); });
    const tensor<float, batch, d_model> expected = contract<hidden>(relu(contract<d_model>(x, up)), down);
    on_threads([&](const ranks::communicator& world) {
      const ranks::mesh grid(world, tp{world.size()});
      const span_here here = part(width, world);
      tensor<float, d_model, hidden_here> my_up(hidden_here{here.extent});
      fill(my_up, 6, here.extent, [&](auto i, auto j) { return number_at(i, j + here.first, 1); });
      tensor<float, hidden_here, d_model> my_down(hidden_here{here.extent});
      fill(my_down, here.extent, 6, [&](auto i, auto j) { return number_at(i + here.first, j, 2); });
      const tensor<float, batch, d_model> y =
          all_reduce<tp>(contract<hidden_here>(relu(contract<d_model>(x, my_up)), my_down), grid);
      CHECK(std::equal(y.values().begin(), y.values().end(), expected.values().begin()));
      // The same sum, of which each rank has its part of the batch.
      const auto part_of_sum =
          reduce_scatter<tp, batch>(contract<hidden_here>(relu(contract<d_model>(x, my_up)), my_down), grid);
      const tensor<float, batch, d_model> again = all_gather<tp, batch>(part_of_sum, grid);
      CHECK(std::equal(again.values().begin(), again.values().end(), expected.values().begin()));
    });
  }
}

TEST_CASE("a dimension is gathered wherever it stands, with its positions, over threads" * support::threads) {
  on_threads([&](const ranks::communicator& world) {
    using seq_here = shard<seq, tp>;
    const ranks::mesh grid(world, tp{world.size()});
    for (const std::size_t n : {0U, 3U, 9U}) {
      const seq_here here = part_here<seq_here>(starting_at(seq{n}, 5), world.rank(), world.size());
      tensor<float, batch, seq_here, d_model> x(batch{2}, here);
      const auto first = static_cast<std::size_t>(here.origin() - 5);
      float* const elements = x.data();
      for (std::size_t b = 0; b < 2; ++b) {
        for (std::size_t s = 0; s < here.extent(); ++s) {
          for (std::size_t f = 0; f < 6; ++f) {
            elements[(b * here.extent() + s) * 6 + f] = number_at(b, s + first, f);
          }
        }
      }
      x.seal();
      const tensor<float, batch, seq, d_model> whole = all_gather<tp, seq>(x, grid);
      CHECK(extent_of<seq>(whole) == n);
      CHECK(whole.extents().origin<seq>("test") == 5);
      CHECK(dimwise_test::differences(whole, {2, n, 6}, 0, [](auto b, auto s, auto f) { return number_at(b, s, f); }) ==
            "");
    }
  });
}

TEST_CASE_TEMPLATE("stripes are gathered and scattered in the order of the whole, over threads" * support::threads, M,
                   sp<1>, sp<2>, sp<4>) {
  ranks::run_threads(M::static_extent, [&](const ranks::communicator& world) {
    using stripe = shard<key, M, striped>;
    const ranks::mesh grid(world, M{});
    for (const std::size_t n : {1U, 6U, 8U}) {
      const stripe here = part_here<stripe>(key{n}, world.rank(), world.size());
      tensor<float, d_model, stripe> x(here);
      fill(x, 6, here.extent(), [&](auto f, auto i) { return number_at(f, world.rank() + i * world.size()); });
      const tensor<float, d_model, key> whole = all_gather<M, key>(x, grid);
      CHECK(dimwise_test::differences(whole, {6, n}, 0, [](auto f, auto i) { return number_at(f, i); }) == "");
      // Each rank has 1 / P of it as its term: the sum is exact, and the stripes are those of before.
      const tensor<float, d_model, key, partial<M>> term =
          sum<shard<batch, M>>(broadcast<shard<batch, M>>(whole, shard<batch, M>{1}));
      const tensor<float, d_model, stripe> back =
          reduce_scatter<M, key, striped>(term, grid) / static_cast<float>(world.size());
      CHECK(std::equal(back.values().begin(), back.values().end(), x.values().begin()));
    }
  });
}

TEST_CASE("ranks exchange one divided dimension for another, over threads" * support::threads) {
  on_threads([&](const ranks::communicator& world) {
    const ranks::mesh grid(world, tp{world.size()});
    for (const std::size_t n : {4U, 5U}) {
      const span_here rows = part(n, world), columns = part(7, world);
      tensor<float, batch_here, hidden, d_model> x(batch_here{rows.extent}, hidden{7});
      fill(x, rows.extent, 42, [&](auto i, auto j) { return number_at(i + rows.first, j / 6, j % 6); });
      const tensor<float, batch, hidden_here, d_model> y = all_to_all<tp, batch, hidden>(x, grid);
      CHECK(dimwise_test::differences(y, {n, columns.extent, 6}, 0, [&](auto i, auto j, auto f) {
        return number_at(i, j + columns.first, f);
      }) == "");
      const tensor<float, batch_here, hidden, d_model> back = all_to_all<tp, hidden, batch>(y, grid);
      CHECK(std::equal(back.values().begin(), back.values().end(), x.values().begin()));
    }
  });
}

TEST_CASE("a tensor of one rank goes to all, and parts go around a ring, over threads" * support::threads) {
  on_threads([&](const ranks::communicator& world) {
    const ranks::mesh grid(world, tp{world.size()});
    const std::size_t last = world.size() - 1;
    tensor<float, d_model> x;
    x.fill(static_cast<float>(world.rank()));
    const tensor<float, d_model> all = broadcast_from<tp>(x, last, grid);
    CHECK(el(all, 5) == static_cast<float>(last));
    CHECK(el(x, 5) == static_cast<float>(world.rank()));

    using seq_here = shard<seq, tp>;
    const seq_here here = part_here<seq_here>(seq{6}, world.rank(), world.size());
    tensor<float, seq_here> part(here);
    part.fill(static_cast<float>(world.rank()));
    auto coming = start_permute_ranks<tp>(part, 1, grid);
    const tensor<float, seq_here> before = coming.wait();
    const std::size_t sender = (world.rank() + last) % world.size();
    CHECK(extent_of<seq_here>(before) == part_here<seq_here>(seq{6}, sender, world.size()).extent());
    CHECK(before.extents().origin<seq_here>("test") == part_here<seq_here>(seq{6}, sender, world.size()).origin());
    CHECK(el(before, 0) == static_cast<float>(sender));
    const tensor<float, seq_here> round = permute_ranks<tp>(part, static_cast<std::ptrdiff_t>(world.size()), grid);
    CHECK(el(round, 0) == static_cast<float>(world.rank()));
  });
}

TEST_CASE("parts that leave a gap are rejected on every rank, over threads" * support::threads) {
  ranks::run_threads(2, [](const ranks::communicator& world) {
    using seq_here = shard<seq, tp>;
    const ranks::mesh grid(world, tp{2});
    const tensor<float, seq_here> x(starting_at(seq_here{2}, world.rank() == 0 ? 0 : 3));
    const std::string said = dimwise_test::thrown<extent_error>([&] { (void)all_gather<tp, seq>(x, grid); });
    CHECK(said.find("the part of rank 1 of dimension") != std::string::npos);
    CHECK(said.find("the first position 3, and 2 is expected") != std::string::npos);
  });
}

TEST_CASE("a tensor that is stored inside its object goes around a ring, over threads" * support::threads) {
  ranks::run_threads(2, [](const ranks::communicator& world) {
    const ranks::mesh grid(world, sp<2>{});
    tensor<float, shard<d_model, sp<2>>> x;
    x.fill(static_cast<float>(10 + world.rank()));
    auto coming = start_permute_ranks<sp<2>>(x, 1, grid);
    auto moved = std::move(coming);
    const auto y = moved.wait();
    CHECK(el(y, 0) == static_cast<float>(11 - world.rank()));
    CHECK(el(y, 2) == static_cast<float>(11 - world.rank()));
  });
}
