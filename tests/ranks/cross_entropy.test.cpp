// tests/ranks/cross_entropy.test.cpp -- the cross-entropy of logits whose vocabulary ranks share, over threads
// (std::thread), against the cross-entropy of one rank in double.
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include "support/threads.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/cross_entropy.hpp>
#include <dimwise/ranks/threads.hpp>
#include <dimwise/ranks/training/gradients.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace {

using namespace dimwise;
using dimwise_test::drawn;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct d_model : feature_dim<8> {};
struct vocab : choice_dim<> {};
struct share : feature_dim<> {};
struct tp : mesh_axis<> {};
struct pair : mesh_axis<2> {};

// Logits of at most some tens in magnitude, and sums of at most 23 exponentials: some roundings of 2^-24.
constexpr double tolerance = 1e-5;

template <class S, class Mesh>
void check_on(const ranks::communicator& world, const Mesh& grid, std::size_t words) {
  const auto x = drawn<tensor<float, batch, seq, d_model>>(1, batch{2}, seq{3});
  const auto head = drawn<tensor<float, vocab, d_model>>(2, vocab{words});
  tensor<id<vocab>, seq, batch> next(batch{2}, seq{3});  // in another order
  id<vocab>* const ids = next.data();
  for (std::size_t i = 0; i < 6; ++i) { ids[i] = id<vocab>{i * 5 % words}; }
  next.seal();
  using doubles = tensor<double, batch, seq, d_model>;
  using weights = tensor<double, vocab, d_model>;
  const auto expected = value_and_gradient(std::tuple(doubles(x), weights(head)), [&](const auto& m) {
    const auto logits = contract<d_model>(std::get<0>(m), std::get<1>(m)) * 20.0;
    return cross_entropy<vocab>(logits, next).mean();
  });
  const S here = part_here<S>(vocab{words}, world.rank(), world.size());
  tensor<float, S, d_model> my_head(here);
  const std::size_t before = world.rank() * (words / world.size()) + std::min(world.rank(), words % world.size());
  const auto word_at = [&](std::size_t i) { return S::is_striped ? world.rank() + i * world.size() : before + i; };
  float* const elements = my_head.data();
  for (std::size_t i = 0; i < here.extent(); ++i) {
    std::copy_n(head.values().begin() + static_cast<std::ptrdiff_t>(word_at(i) * 8), 8, elements + i * 8);
  }
  my_head.seal();
  const auto [value, g] = value_and_gradient(std::tuple(x, my_head), [&](const auto& m) {
    const auto logits = contract<d_model>(std::get<0>(m), std::get<1>(m)) * 20.0F;
    return mean<batch, seq>(ranks::cross_entropies<S>(logits, next, grid));
  });
  CHECK(std::abs(value - expected.value) < tolerance * expected.value);
  const auto close = [](float a, double b) { return std::abs(static_cast<double>(a) - b) < 20 * tolerance; };
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(close(std::get<0>(g).values()[i], std::get<0>(expected.gradient).values()[i]));
  }
  for (std::size_t i = 0; i < here.extent(); ++i) {
    for (std::size_t f = 0; f < 8; ++f) {
      CHECK(close(std::get<1>(g).values()[i * 8 + f], std::get<1>(expected.gradient).values()[word_at(i) * 8 + f]));
    }
  }
  const tensor plain = ranks::cross_entropies<S>(contract<d_model>(x, my_head) * 20.0F, next, grid);
  static_assert(std::is_same_v<decltype(plain), const tensor<float, batch, seq>>);
  CHECK(std::abs(float(mean<batch, seq>(plain)) - value) < 1e-6F);
}

}  // namespace

TEST_CASE("the cross-entropy over a divided vocabulary is that of the whole, forward and backward, over threads" *
          support::threads) {
  for (const std::size_t words : {23U, 8U, 3U}) {
    CAPTURE(words);
    for (const std::size_t count : {1U, 2U, 4U}) {
      CAPTURE(count);
      ranks::run_threads(count, [&](const ranks::communicator& world) {
        check_on<shard<vocab, tp>>(world, ranks::mesh(world, tp{count}), words);
      });
    }
    ranks::run_threads(2, [&](const ranks::communicator& world) {
      check_on<shard<vocab, pair, striped>>(world, ranks::mesh(world, pair{}), words);
    });
  }
}

TEST_CASE("a loss that is a partial sum along the axis of the vocabulary has the gradient of one rank, over threads" *
          support::threads) {
  constexpr std::size_t words = 12;
  using vocab_here = shard<vocab, tp>;
  using share_here = shard<share, tp>;
  const auto x = drawn<tensor<float, seq, d_model>>(1, seq{3});
  const auto head = drawn<tensor<float, vocab, d_model>>(2, vocab{words});
  tensor<id<vocab>, seq> next(seq{3});
  next.assign({id<vocab>{1}, id<vocab>{11}, id<vocab>{6}});
  for (const std::size_t count : {1U, 2U, 4U}) {
    CAPTURE(count);
    // Rank r weighs the losses by r + 1.
    const double weights = static_cast<double>(count * (count + 1)) / 2;
    using model = std::tuple<tensor<double, seq, d_model>, tensor<double, vocab, d_model>>;
    const auto expected = value_and_gradient(model(x, head), [&](const auto& m) {
      return cross_entropy<vocab>(contract<d_model>(std::get<0>(m), std::get<1>(m)), next).sum * weights;
    });
    ranks::run_threads(count, [&](const ranks::communicator& world) {
      const ranks::mesh grid(world, tp{count});
      const std::size_t n = words / count, first = world.rank() * n * 8;
      tensor<float, vocab_here, d_model> my_head(vocab_here{n});
      std::copy_n(head.values().begin() + static_cast<std::ptrdiff_t>(first), n * 8, my_head.data());
      my_head.seal();
      tensor<float, seq, share_here> weight(seq{3}, share_here{1});
      weight.fill(static_cast<float>(world.rank() + 1));
      const auto [value, g] = all_reduce<tp>(value_and_gradient(std::tuple(x, my_head),
                                                                [&](const auto& m) {
        const auto logits = contract<d_model>(std::get<0>(m), std::get<1>(m));
        return sum<seq, share_here>(ranks::cross_entropies<vocab_here>(logits, next, grid) * weight);
      }),
                                             grid);
      const auto close = [](float a, double b) { return std::abs(static_cast<double>(a) - b) < 20 * tolerance; };
      CHECK(close(value, expected.value));
      for (std::size_t i = 0; i < x.size(); ++i) {
        CHECK(close(std::get<0>(g).values()[i], std::get<0>(expected.gradient).values()[i]));
      }
      for (std::size_t i = 0; i < n * 8; ++i) {
        CHECK(close(std::get<1>(g).values()[i], std::get<1>(expected.gradient).values()[first + i]));
      }
    }, {.checks = true});
  }
}

TEST_CASE("large logits do not overflow, and an id outside the vocabulary is rejected on all ranks, over threads" *
          support::threads) {
  ranks::run_threads(2, [](const ranks::communicator& world) {
    using vocab_here = shard<vocab, pair>;
    const ranks::mesh grid(world, pair{});
    tensor<float, seq, vocab_here> logits(seq{2}, vocab_here{2});
    logits.assign({3e38F, -3e38F, world.rank() == 0 ? 1.0F : 2.0F, -std::numeric_limits<float>::infinity()});
    tensor<id<vocab>, seq> next(seq{2});
    next.assign({id<vocab>{2}, id<vocab>{2}});
    const tensor losses = ranks::cross_entropies<vocab_here>(logits, next, grid);
    CHECK(losses.values()[0] == doctest::Approx(std::log(2.0)));
    CHECK(losses.values()[1] == doctest::Approx(std::log(1 + std::exp(-1.0))));
    next.assign({id<vocab>{2}, id<vocab>{4}});
    const std::string said =
        dimwise_test::thrown<index_error>([&] { (void)ranks::cross_entropies<vocab_here>(logits, next, grid); });
    CHECK(said.find("cross_entropies: id 4 is outside dimension vocab of extent 4 (R18)") != std::string::npos);
  });
}
