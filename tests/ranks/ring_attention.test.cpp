// tests/ranks/ring_attention.test.cpp -- attention over keys that threads (std::thread) share, against one rank.
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/ranks/ring_attention.hpp>
#include <dimwise/ranks/threads.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace dimwise;
using namespace dimwise_test;

struct batch : batch_dim<> {};
struct heads : heads_dim<2> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<8> {};
struct d_v : feature_dim<5> {};

constexpr std::size_t length = 37;

// The elements from the first to the last of a rank: in blocks of other lengths, one of them empty with four ranks.
std::size_t begin_of(std::size_t rank, std::size_t ranks) {
  if (rank == 0 || rank == ranks) { return rank == 0 ? 0 : length; }
  return ranks == 4 ? (rank == 1 ? 11 : 20) : length * rank / ranks + 1;
}

template <class T>
void check_ring(std::size_t ranks) {
  const auto q = drawn<tensor<T, batch, seq, heads, d_k>>(1, batch{2}, seq{length});
  const auto k = drawn<tensor<T, batch, key, heads, d_k>>(2, batch{2}, key{length});
  const auto v = drawn<tensor<T, batch, key, heads, d_v>>(3, batch{2}, key{length});
  const auto part_of = [&]<class D>(const auto& x, id<D>, std::size_t rank) {
    return tensor(slice<D>(x, begin_of(rank, ranks), begin_of(rank + 1, ranks) - begin_of(rank, ranks)));
  };
  dimwise::ranks::run_threads(ranks, [&](const dimwise::ranks::communicator& world) {
    const tensor own_q = part_of(q, id<seq>{0}, world.rank());
    const auto scores_of = [&](const auto& keys) { return masked(scores<d_k>(own_q, keys), causal<seq, key>{}); };
    const auto got = dimwise::ranks::ring_attention<key>(scores_of, tensor(part_of(k, id<key>{0}, world.rank())),
                                                         tensor(part_of(v, id<key>{0}, world.rank())), world);
    // One rank that merges the same blocks: the same bits.
    auto same = partial_attention<key>(scores_of(part_of(k, id<key>{0}, 0)), part_of(v, id<key>{0}, 0));
    for (std::size_t r = 1; r < ranks; ++r) {
      same = merge(same, partial_attention<key>(scores_of(part_of(k, id<key>{0}, r)), part_of(v, id<key>{0}, r)));
    }
    CHECK(std::equal(got.output.values().begin(), got.output.values().end(), same.output.values().begin(),
                     same.output.values().end()));
    CHECK(std::equal(got.log_sum_exp.values().begin(), got.log_sum_exp.values().end(),
                     same.log_sum_exp.values().begin(), same.log_sum_exp.values().end()));
    // One rank that has all keys, in one pass: equal up to rounding.
    const auto whole = partial_attention<key>(scores_of(k), v);
    T largest = 0;
    for (std::size_t i = 0; i < whole.output.size(); ++i) {
      largest = std::max(largest, std::abs(whole.output.values()[i] - got.output.values()[i]));
    }
    CHECK(largest <= 32 * std::numeric_limits<T>::epsilon());
  });
}

}  // namespace

TEST_CASE("ring_attention of one rank, and of threads, equals one rank") {
  for (const std::size_t ranks : {1U, 2U, 3U, 4U}) {
    CAPTURE(ranks);
    check_ring<float>(ranks);
    check_ring<double>(ranks);
  }
}

TEST_CASE("ring_attention: tensors with static extents travel between threads, and other types are rejected") {
  struct few : position_dim<3> {};
  struct few_keys : prime<few> {};
  const auto run = [](bool differ) {
    dimwise::ranks::run_threads(2, [&](const dimwise::ranks::communicator& world) {
      const float rank = static_cast<float>(world.rank());
      const tensor<float, few, d_k> q(std::vector<float>(24, 1.0F));
      const tensor<float, few_keys, d_k> k(std::vector<float>(24, rank));
      const tensor<float, few_keys, d_v> v(std::vector<float>(15, rank + 1));
      if (differ && world.rank() == 1) {
        const tensor<float, few_keys> narrow(std::vector<float>(3, 1.0F));
        (void)dimwise::ranks::ring_attention<few_keys>([&](const auto& keys) { return scores<d_k>(q, keys); }, k,
                                                       narrow, world);
        return;
      }
      const auto got =
          dimwise::ranks::ring_attention<few_keys>([&](const auto& keys) { return scores<d_k>(q, keys); }, k, v, world);
      // Scores of 0 on rank 0 and of sqrt(8) on rank 1.
      const double share = 1 / (1 + std::exp(-std::sqrt(8.0)));
      CHECK(got.output.values()[0] == doctest::Approx((1 - share) * 1 + share * 2));
    }, {.checks = true});
  };
  run(false);
  CHECK_THROWS_WITH_AS(run(true), doctest::Contains("ranks call different collectives"), dimwise::ranks::rank_error);
}
