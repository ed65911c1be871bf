// SPDX-License-Identifier: BSL-1.0
// The adjoints of views, joins, ids and positions, against differences in float64.
#include "grad/nodes.hpp"

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

TEST_CASE("new names of composites whose extents the run decides") {
  struct row : position_dim<> {};
  struct column : position_dim<> {};
  struct patch : position_dim<> {};
  struct of_heads : feature_dim<> {};
  struct lanes : heads_dim<> {};
  struct per_lane : feature_dim<> {};
  using grid = merged<row, column>;
  using lane_features = merged<lanes, per_lane>;
  using token = summed<cls, seq>;
  const auto image = some<row, column, rot>(1, row{2}, column{3});
  CHECK_ADJOINT(image, relabel<grid, patch>(merge<row, column>(m)));
  CHECK_ADJOINT(image, rename<grid, prime<grid>>(merge<row, column>(m)));
  const auto split = some<seq, lanes, per_lane>(2, seq{3}, lanes{2}, per_lane{3});
  CHECK_ADJOINT(split, relabel<lane_features, of_heads>(merge<lanes, per_lane>(m)));
  CHECK_ADJOINT(split, relabel<lane_features, out<lane_features>>(merge<lanes, per_lane>(m)));
  const auto text = some<token, rot>(3, seq{4});
  CHECK_ADJOINT(text, rename<token, prime<token>>(m));
  CHECK_ADJOINT(std::tuple(text, text), scores<rot>(std::get<0>(m), rename<token, prime<token>>(std::get<1>(m))));
  const auto mixing = some<lanes, per_lane, out<lane_features>>(4, lanes{2}, per_lane{3}, out<lane_features>{6});
  CHECK_ADJOINT(std::tuple(split, mixing), contract<lanes, per_lane>(std::get<0>(m), std::get<1>(m)));
  // The output side of a composite keeps its name: it has one axis.
  const auto square = some<lane_features, out<lane_features>>(5, lanes{2}, per_lane{3}, out<lane_features>{6});
  CHECK_ADJOINT(std::tuple(tensor(merge<lanes, per_lane>(split)), square),
                contract<lane_features>(std::get<0>(m), std::get<1>(m)));
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
  CHECK_ADJOINT(values, scatter_add<vocab, batch, seq>(m, words, vocab{5}));
  CHECK_ADJOINT(values, scatter_add<vocab, seq>(m, words, vocab{5}));
  CHECK_ADJOINT(values, scatter_add<vocab>(m, words, vocab{5}));
  CHECK_ADJOINT(table, contract<d_model>(gather<vocab>(m, words), m));
}

TEST_CASE("sort: the gradient goes back to where each element was") {
  const auto x = some<batch, seq, d_model>(2, batch{2}, seq{5});
  CHECK_ADJOINT(x, sort<seq>(m));
  CHECK_ADJOINT(x, sort<seq>(m, descending{}));
  CHECK_ADJOINT(x, sort<batch>(m) * m);
  // torch.autograd.grad((x.sort().values * w).sum(), x)
  const tensor<double, seq> values({3, 1, 2}, seq{3});
  const tensor<double, seq> weights({10, 20, 30}, seq{3});
  const auto up = gradient(values, [&](const auto& m) { return sum<seq>(sort<seq>(m) * weights); });
  CHECK(std::vector<double>(up.values().begin(), up.values().end()) == std::vector<double>{30, 10, 20});
  const auto down = gradient(values, [&](const auto& m) { return sum<seq>(sort<seq>(m, descending{}) * weights); });
  CHECK(std::vector<double>(down.values().begin(), down.values().end()) == std::vector<double>{10, 30, 20});
  // Equal elements keep their order, NaN is last.
  const tensor<double, seq> ties({2, std::numeric_limits<double>::quiet_NaN(), 2}, seq{3});
  const auto tied = gradient(ties, [&](const auto& m) { return sum<seq>(sort<seq>(m) * weights); });
  CHECK(std::vector<double>(tied.values().begin(), tied.values().end()) == std::vector<double>{10, 30, 20});
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
