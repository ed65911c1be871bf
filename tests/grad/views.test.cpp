// SPDX-License-Identifier: BSL-1.0
// The adjoints of views, joins, ids and positions, against differences in float64.
#include "nodes.hpp"

using namespace grad_tests;

TEST_CASE("views") {
  const auto x = some<batch, seq, d_model>(1, batch{2}, seq{5});
  const auto h = some<batch, seq, heads, d_k>(2, batch{2}, seq{3});
  const auto square_scores = some<seq, key>(3, seq{3}, key{3});
  const auto fused = some<batch, summed<hidden, d_v>>(4, batch{2});
  CHECK_ADJOINT(x, rename<seq, key>(m));
  CHECK_ADJOINT(x, relabel<seq, width>(m));
  CHECK_ADJOINT(x, permute<d_model, batch, seq>(m));
  CHECK_ADJOINT(h, merge<heads, d_k>(m));
  CHECK_ADJOINT(h, split<heads, d_k>(merge<heads, d_k>(m) * 2.0));
  CHECK_ADJOINT(fused, part<hidden>(m));
  CHECK_ADJOINT(fused, part<d_v>(m));
  CHECK_ADJOINT(square_scores, diagonal<seq, key>(m));
  CHECK_ADJOINT(x, at<seq>(m, 2));
  CHECK_ADJOINT(x, slice<seq>(m, 1, 3));
  CHECK_ADJOINT(h, slice<d_k, rot>(m, 1));
  CHECK_ADJOINT(x, broadcast<copies>(m, copies{3}));
  CHECK_ADJOINT(some<d_model>(5), broadcast_like(m, x));
  CHECK_ADJOINT(x, unroll<seq, width>(m, width{3}));
  const auto six = some<batch, seq>(6, batch{2}, seq{6});
  CHECK_ADJOINT(six, pool<seq, width>(m, width{2}));
  CHECK_ADJOINT(six, max<width>(pool<seq, width>(m, width{3})));
  CHECK_ADJOINT(x, roll<seq>(m, 2));
  CHECK_ADJOINT(x, flip<seq>(m));
}

TEST_CASE("joins") {
  const auto x = some<batch, seq>(1, batch{2}, seq{3});
  const auto y = some<batch, seq>(2, batch{2}, seq{2});
  const auto c = some<batch, cls>(3, batch{2});
  CHECK_ADJOINT(std::tuple(x, y), concat<seq>(std::get<0>(m), std::get<1>(m)));
  CHECK_ADJOINT(std::tuple(c, x), concat<summed<cls, seq>>(std::get<0>(m), std::get<1>(m)));
  CHECK_ADJOINT(std::tuple(x, x), stack<copies>(std::get<0>(m), std::get<1>(m)));
  CHECK_ADJOINT(x, concat<seq>(y, m));
}

TEST_CASE("ids") {
  const auto table = some<vocab, d_model>(1, vocab{5});
  const tensor<id<vocab>, batch, seq> words(std::vector{1, 4, 1, 0, 2, 1}, batch{2}, seq{3});
  const auto values = some<batch, seq, d_model>(2, batch{2}, seq{3});
  CHECK_ADJOINT(table, gather<vocab>(m, words));
  CHECK_ADJOINT(values, scatter_add<vocab>(m, words, vocab{5}));
  CHECK_ADJOINT(table, contract<d_model>(gather<vocab>(m, words), m));
}

TEST_CASE("the values of top_k are those at its ids") {
  const auto logits = some<batch, vocab>(3, batch{3}, vocab{7});  // no two are nearer than a step
  const auto values = [](const auto& m) { return top_k<vocab, best>(m).values; };
  CHECK_ADJOINT(logits, values(m));
  CHECK_ADJOINT(logits, softmax<best>(values(m)) * 2.0);
}

TEST_CASE("positions") {
  const auto x = some<batch, seq, heads, d_k>(1, batch{2}, seq{3});
  const auto r = some<seq, distance, heads>(2, seq{3}, starting_at(distance{5}, -2));
  const tensor<int, batch, seq> places({5, 2, 7, 0, 1, 9}, batch{2}, seq{3});
  CHECK_ADJOINT(x, rotary<seq, d_k>(m));
  CHECK_ADJOINT(
      x, rotary<seq, d_k>(m, {.pairs = rotary_pairs::interleaved, .scaling = yarn_scaling{.factor = 4, .trained = 8}}));
  CHECK_ADJOINT(x, rotary<seq, d_k>(m, places, {.features = 2}));
  CHECK_ADJOINT(r, skew<seq, distance, key>(m, key{3}));
}
