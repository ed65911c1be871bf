// tests/ranks/attention/ring_projections.test.cpp -- attention over ranks whose queries, keys and values are products
// with whole weights: the gradients of the weights, over threads (std::thread), against float64 on one rank.
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include "support/threads.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/ring_attention.hpp>
#include <dimwise/ranks/threads.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <vector>

namespace {

using namespace dimwise;
using dimwise_test::drawn;

struct batch : batch_dim<2> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_model : feature_dim<12> {};
struct d_k : feature_dim<8> {};
struct d_v : feature_dim<5> {};
struct sp : mesh_axis<> {};
using seq_here = shard<seq, sp>;
using key_here = shard<key, sp>;

using weight = tensor<float, d_model, d_k>;
using value_weight = tensor<float, d_model, d_v>;
using input = tensor<float, seq, batch, d_model>;
using input_here = tensor<float, seq_here, batch, d_model>;
constexpr std::size_t length = 19;

template <class T>
input_here part_of(const T& whole, const ranks::communicator& world) {
  const seq_here part = part_here<seq_here>(seq{length}, world.rank(), world.size());
  input_here x(part);
  const std::size_t row = whole.size() / length;
  std::copy_n(whole.values().begin() + part.origin() * static_cast<std::ptrdiff_t>(row), x.size(), x.data());
  x.seal();
  return x;
}
// Sums of 19 x 12 terms in float, of which some cancel.
template <class A, class B>
double distance(const A& a, const B& expected) {
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(a.values()[i]) - expected.values()[i]));
    largest = std::max(largest, std::abs(expected.values()[i]));
  }
  return difference / largest;
}
constexpr double tolerance = 2e-5;
template <class A, class B>
bool is_same(const A& a, const B& b) {
  return std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end());
}

// Every rank has the same gradient, which is that of one rank.
template <class Model, class Whole, class LossOn>
void check(const Model& model, const Whole& expected, const LossOn& loss_on) {
  for (const std::size_t count : {1U, 2U, 4U}) {
    CAPTURE(count);
    std::vector<Model> all(count, model);
    ranks::run_threads(count, [&](const ranks::communicator& world) {
      const ranks::mesh<sp> grid(world);
      const auto got = value_and_gradient(model, loss_on(world, grid));
      CHECK(std::abs(static_cast<double>(got.value) - static_cast<double>(expected.value)) <=
            tolerance * (1 + std::abs(static_cast<double>(expected.value))));
      all[world.rank()] = got.gradient;
    }, {.checks = true});
    for (std::size_t r = 0; r < count; ++r) {
      CAPTURE(r);
      CHECK(distance(std::get<0>(all[r]), std::get<0>(expected.gradient)) <= tolerance);
      CHECK(distance(std::get<1>(all[r]), std::get<1>(expected.gradient)) <= tolerance);
      CHECK(is_same(std::get<0>(all[r]), std::get<0>(all[0])));
      CHECK(is_same(std::get<1>(all[r]), std::get<1>(all[0])));
    }
  }
}

}  // namespace

TEST_CASE("ring attention of projections: whole weights have the gradient of one rank on every rank, over threads" *
          support::threads) {
  const auto x = drawn<input>(1, seq{length});
  const auto factor = drawn<tensor<float, d_v>>(2);
  const auto model = std::tuple(drawn<weight>(3), drawn<value_weight>(4));
  using doubles = std::tuple<tensor<double, d_model, d_k>, tensor<double, d_model, d_v>>;
  const auto whole = value_and_gradient(doubles(std::get<0>(model), std::get<1>(model)), [&](const auto& m) {
    const auto& [w, w_v] = m;
    const tensor<double, seq, batch, d_model> in(x);
    const tensor q = contract<d_model>(in, w);
    const tensor k = rename<seq, key>(contract<d_model>(in, w));
    const tensor v = rename<seq, key>(contract<d_model>(in, w_v));
    const tensor y = contract<key>(softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{})), v);
    return sum<batch, seq, d_v>(square(y) * tensor<double, d_v>(factor));
  });
  check(model, whole, [&](const ranks::communicator& world, const ranks::mesh<sp>& grid) {
    const input_here in = part_of(x, world);
    return [in, factor, grid](const auto& m) {
      const auto& [w, w_v] = m;
      const tensor q = contract<d_model>(in, w);
      const tensor k = rename<seq_here, key_here>(contract<d_model>(in, w));
      const tensor v = rename<seq_here, key_here>(contract<d_model>(in, w_v));
      const tensor y = ring_attention<key_here>(masked(scores<d_k>(q, k), causal<seq_here, key_here>{}), v, grid);
      return all_reduce<sp>(sum<batch, seq_here, d_v>(square(y) * factor), grid);
    };
  });
}

TEST_CASE(
    "whole queries over keys of all ranks: one weight for both has the gradient of one rank on every rank, over "
    "threads" *
    support::threads) {
  const auto x = drawn<input>(1, seq{length});
  const auto queries = drawn<input>(5, starting_at(seq{3}, 16));
  const auto factor = drawn<tensor<float, d_v>>(2);
  const auto model = std::tuple(drawn<weight>(3), drawn<value_weight>(4));
  using doubles = std::tuple<tensor<double, d_model, d_k>, tensor<double, d_model, d_v>>;
  const auto whole = value_and_gradient(doubles(std::get<0>(model), std::get<1>(model)), [&](const auto& m) {
    const auto& [w, w_v] = m;
    const tensor<double, seq, batch, d_model> in(x);
    const tensor q = contract<d_model>(tensor<double, seq, batch, d_model>(queries), w);
    const tensor k = rename<seq, key>(contract<d_model>(in, w));
    const tensor v = rename<seq, key>(contract<d_model>(in, w_v));
    const tensor y = contract<key>(softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{})), v);
    return sum<batch, seq, d_v>(square(y) * tensor<double, d_v>(factor));
  });
  check(model, whole, [&](const ranks::communicator& world, const ranks::mesh<sp>& grid) {
    const input_here in = part_of(x, world);
    return [in, queries, factor, grid](const auto& m) {
      const auto& [w, w_v] = m;
      // Not stored: ring attention itself sends to the weights.
      const auto q = contract<d_model>(queries, w);
      const auto k = rename<seq_here, key_here>(contract<d_model>(in, w));
      const auto v = rename<seq_here, key_here>(contract<d_model>(in, w_v));
      const tensor y = ring_attention<key_here>(masked(scores<d_k>(q, k), causal<seq, key_here>{}), v, grid);
      return sum<batch, seq, d_v>(square(y) * factor);
    };
  });
  // The same formulas with a written type.
  check(model, whole, [&](const ranks::communicator& world, const ranks::mesh<sp>& grid) {
    const input_here in = part_of(x, world);
    return [in, queries, factor, grid](const auto& m) {
      const auto& [w, w_v] = m;
      const expr<tracked<float>, shape<seq, batch, d_k>> q = contract<d_model>(queries, w);
      const expr<tracked<float>, shape<key_here, batch, d_k>> k = rename<seq_here, key_here>(contract<d_model>(in, w));
      const expr<tracked<float>, shape<key_here, batch, d_v>> v =
          rename<seq_here, key_here>(contract<d_model>(in, w_v));
      const tensor y = ring_attention<key_here>(masked(scores<d_k>(q, k), causal<seq, key_here>{}), v, grid);
      return sum<batch, seq, d_v>(square(y) * factor);
    };
  });
}

TEST_CASE("a mask may say its origins where the keys stay, with and without a gradient" * support::threads) {
  const auto queries = drawn<tensor<float, batch, seq, d_k>>(5, starting_at(seq{3}, 16));
  const auto weight_of_output = drawn<tensor<float, d_v>>(2);
  ranks::run_threads(2, [&](const ranks::communicator& world) {
    const ranks::mesh<sp> grid(world);
    const key_here part = part_here<key_here>(key{length}, world.rank(), world.size());
    const auto k = drawn<tensor<float, batch, key_here, d_k>>(6 + static_cast<unsigned>(world.rank()), part);
    const auto v = drawn<tensor<float, batch, key_here, d_v>>(8 + static_cast<unsigned>(world.rank()), part);
    const causal<seq, key_here> said(starting_at(seq{3}, 16), part);
    const auto loss = [&](const auto& mask) {
      return value_and_gradient(std::tuple(queries, k, v), [&](const auto& m) {
        const auto& [q, keys, values] = m;
        const tensor y = ring_attention<key_here>(masked(scores<d_k>(q, keys), mask), values, grid);
        return sum<batch, seq, d_v>(square(y) * weight_of_output);
      });
    };
    const auto expected = loss(causal<seq, key_here>{});
    const auto got = loss(said);
    CHECK(got.value == expected.value);
    CHECK(is_same(std::get<0>(got.gradient), std::get<0>(expected.gradient)));
    CHECK(is_same(std::get<1>(got.gradient), std::get<1>(expected.gradient)));
    CHECK(is_same(std::get<2>(got.gradient), std::get<2>(expected.gradient)));
    const tensor plain = ring_attention<key_here>(masked(scores<d_k>(queries, k), said), v, grid);
    CHECK(float(sum<batch, seq, d_v>(square(plain) * weight_of_output)) == got.value);
    // Blocks of other ranks begin elsewhere.
    const seq_here mine = part_here<seq_here>(seq{length}, world.rank(), world.size());
    const tensor<float, batch, seq_here, d_k> q(mine);
    const causal<seq_here, key_here> of_blocks(mine, part);
    CHECK_THROWS_AS((void)ring_attention<key_here>(masked(scores<d_k>(q, k), of_blocks), v, grid), origin_error);
    CHECK_THROWS_AS((void)value_and_gradient(q,
                                             [&](const auto& m) {
      const tensor y = ring_attention<key_here>(masked(scores<d_k>(m, k), of_blocks), v, grid);
      return all_reduce<sp>(sum<batch, seq_here, d_v>(y), grid);
    }),
                    origin_error);
  });
}

namespace {

struct four : mesh_axis<4> {};

// How many blocks each of four ranks computes under a causal mask.
template <class Q, class K>
std::vector<std::size_t> computed_blocks() {
  std::vector<std::size_t> counts(4);
  ranks::run_threads(4, [&](const ranks::communicator& world) {
    const ranks::mesh<four> grid(world);
    const Q queries = part_here<Q>(seq{64}, world.rank(), 4);
    const K keys = part_here<K>(key{64}, world.rank(), 4);
    const tensor<float, Q, d_k> q(queries);
    const tensor<float, K, d_k> k(keys);
    const tensor<float, K, d_v> v(keys);
    context cx;
    const use_context scope(cx);
    (void)ring_attention<K>(masked(scores<d_k>(q, k), causal<Q, K>{}), v, grid);
    const auto of = cx.counts().of;
    counts[world.rank()] = of[static_cast<std::size_t>(plan_kind::attention)];
  });
  return counts;
}

}  // namespace

TEST_CASE("blocks of keys after all queries are not computed; stripes are the same work for all threads" *
          support::threads) {
  using blocks = std::vector<std::size_t>;
  CHECK(computed_blocks<shard<seq, four>, shard<key, four>>() == blocks{1, 2, 3, 4});
  CHECK(computed_blocks<shard<seq, four, striped>, shard<key, four, striped>>() == blocks{4, 4, 4, 4});
}
