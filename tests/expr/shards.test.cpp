// tests/expr/shards.test.cpp -- values on one rank's part: sums, means, positions of blocks and of stripes.
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::causal;
using dimwise::indicator;
using dimwise::masked;
using dimwise::partial;
using dimwise::shard;
using dimwise::starting_at;
using dimwise::striped;
using dimwise::tensor;

constexpr std::size_t ranks = 2;
struct sp : dimwise::mesh_axis<ranks> {};
struct dp : dimwise::mesh_axis<> {};
struct examples : dimwise::batch_dim<> {};
struct in_blocks {};
template <class D, class Way>
struct divided_by {
  using type = shard<D, sp>;
};
template <class D>
struct divided_by<D, striped> {
  using type = shard<D, sp, striped>;
};
template <class Way>
using seq_in = typename divided_by<seq, Way>::type;
template <class Way>
using key_in = typename divided_by<key, Way>::type;
using examples_here = shard<examples, dp>;

// The position in the whole of element i of a part.
template <class Way>
std::size_t place(std::size_t rank, std::size_t n, std::size_t i) {
  return std::is_same_v<Way, striped> ? rank + i * ranks : rank * (n / ranks) + i;
}
// The elements along `To` that the part of `rank` has of those of `x` along `From`.
template <class Way, class To, class From, class F>
tensor<float, To, F> part_of(const tensor<float, From, F>& x, std::size_t rank) {
  const std::size_t n = dimwise::extent_of<From>(x), width = dimwise::extent_of<F>(x);
  tensor<float, To, F> part(dimwise::part_here<To>(From{n}, rank, ranks), F{width});
  for (std::size_t i = 0; i < n / ranks; ++i) {
    for (std::size_t f = 0; f < width; ++f) {
      part.set(x(dimwise::id<From>(place<Way>(rank, n, i)), dimwise::id<F>(f)), dimwise::id<To>(i), dimwise::id<F>(f));
    }
  }
  return part;
}

}  // namespace

TEST_CASE("the terms of a sum over a shard add up, and a mean divides by the whole extent") {
  for (const std::size_t parts : {1, 2, 4}) {
    float sum = 0, mean = 0;
    for (std::size_t rank = 0; rank < parts; ++rank) {
      const auto here = dimwise::part_here<examples_here>(examples{10}, rank, parts);
      tensor<float, examples_here> x(here);
      const std::size_t first = rank * (10 / parts) + std::min(rank, 10 % parts);
      for (std::size_t i = 0; i < here.extent(); ++i) {
        x.set(static_cast<float>(first + i), dimwise::id<examples_here>(i));
      }
      const tensor<float, partial<dp>> total = dimwise::sum<examples_here>(x);
      const tensor<float, partial<dp>> average = dimwise::mean<examples_here>(x, examples{10});
      sum += total();
      mean += average();
    }
    CHECK(sum == 45);
    CHECK(mean == doctest::Approx(4.5));
  }
  const tensor<float, examples_here> x(examples_here{3});
  CHECK_THROWS_WITH_AS(static_cast<void>(dimwise::mean<examples_here>(x, examples{2})),
                       "mean: this rank's part shard<examples, dp> has extent 3, more than the whole extent 2 (R24)",
                       dimwise::extent_error);
}

TEST_CASE_TEMPLATE("causal sees true positions, of blocks and of stripes", Way, in_blocks, striped) {
  using Q = seq_in<Way>;
  using K = key_in<Way>;
  for (const std::size_t n : {2, 6, 16}) {
    for (std::size_t q = 0; q < ranks; ++q) {
      const auto queries = dimwise::part_here<Q>(seq{n}, q, ranks);
      for (std::size_t k = 0; k < ranks; ++k) {
        const auto keys = dimwise::part_here<K>(key{n}, k, ranks);
        const tensor<float, Q, K> seen = indicator(causal<Q, K>{}, queries, keys);
        CHECK(differences(seen, {n / ranks, n / ranks}, 0, [&](auto i, auto j) {
          return place<Way>(k, n, j) <= place<Way>(q, n, i) ? 1.0 : 0.0;
        }) == "");
      }
      // Against all keys, which were gathered.
      const tensor<float, Q, key> seen = indicator(causal<Q, key>{}, queries, starting_at(key{n}, 0));
      CHECK(differences(seen, {n / ranks, n}, 0,
                        [&](auto i, auto j) { return j <= place<Way>(q, n, i) ? 1.0 : 0.0; }) == "");
    }
  }
}

TEST_CASE_TEMPLATE("queries of one part attend as those of the whole", Way, in_blocks, striped) {
  using Q = seq_in<Way>;
  using dimwise::contract;
  using dimwise::scores;
  using dimwise::softmax;
  const std::size_t n = 48;
  const auto q = drawn<tensor<float, seq, d_k>>(1, seq{n});
  const auto k = drawn<tensor<float, key, d_k>>(2, key{n});
  const auto v = drawn<tensor<float, key, d_v>>(3, key{n});
  const tensor<float, seq, d_v> whole = contract<key>(softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{})), v);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto mine = part_of<Way, Q>(q, rank);
    const auto masked_scores = masked(scores<d_k>(mine, k), causal<Q, key>{});
    const tensor<float, Q, d_v> here = contract<key>(softmax<key>(masked_scores), v);
    CHECK(differences(here, {n / ranks, 4}, 1e-6,
                      [&](auto i, auto f) { return el(whole, place<Way>(rank, n, i), f); }) == "");
  }
}

TEST_CASE_TEMPLATE("rotary and sinusoids are those of the true positions", Way, in_blocks, striped) {
  using P = seq_in<Way>;
  const std::size_t n = 10;
  const auto x = drawn<tensor<float, seq, d_k>>(4, seq{n});
  const tensor<float, seq, d_k, dimwise::rotated<d_k, seq>> whole = dimwise::rotary<seq, d_k>(x);
  const tensor<float, seq, d_model> waves = dimwise::sinusoid<seq, d_model>(seq{n});
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const tensor<float, P, d_k, dimwise::rotated<d_k, seq>> here = dimwise::rotary<P, d_k>(part_of<Way, P>(x, rank));
    CHECK(differences(here, {n / ranks, 4}, 0, [&](auto i, auto f) { return el(whole, place<Way>(rank, n, i), f); }) ==
          "");
    const tensor<float, P, d_model> there = dimwise::sinusoid<P, d_model>(dimwise::part_here<P>(seq{n}, rank, ranks));
    CHECK(differences(there, {n / ranks, 12}, 0,
                      [&](auto i, auto f) { return el(waves, place<Way>(rank, n, i), f); }) == "");
    // What is sliced keeps its positions.
    const tensor<float, P, d_k, dimwise::rotated<d_k, seq>> last =
        dimwise::rotary<P, d_k>(dimwise::slice<P>(part_of<Way, P>(x, rank), 3));
    CHECK(differences(last, {2, 4}, 0, [&](auto i, auto f) { return el(here, i + 3, f); }) == "");
  }
}

TEST_CASE("a part of positions says where it begins") {
  using P = seq_in<striped>;
  const tensor<float, P, d_k> x(P{3});
  CHECK(thrown<dimwise::origin_error>([&] { (void)dimwise::rotary<P, d_k>(x); }).find("part_here") !=
        std::string::npos);
  CHECK(thrown<dimwise::origin_error>([&] {
    (void)dimwise::rotary<P, d_k>(dimwise::slice<P>(x, 1));
  }).find("part_here") != std::string::npos);
  using Q = seq_in<in_blocks>;
  using K = key_in<in_blocks>;
  const tensor<float, Q> q(Q{2});
  const tensor<float, K> k(starting_at(K{2}, 2));
  CHECK_THROWS_AS(static_cast<void>(masked(dimwise::outer(q, k), causal<Q, K>{})), dimwise::origin_error);
  CHECK_THROWS_AS(static_cast<void>(causal<Q, K>{Q{2}, starting_at(K{2}, 2)}), dimwise::origin_error);
}
