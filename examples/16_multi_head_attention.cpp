// SPDX-License-Identifier: BSL-1.0
// 16_multi_head_attention -- attention as a function whose parameters are constrained by dimensions.
//
// `has_dims<X, D…>` accepts tensors, views and expressions with exactly these dimensions, in any order. A wrong
// argument is an error in the line of the call.
#include "support/difference.hpp"
#include <dimwise/dimwise.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

namespace lesson {
struct batch : dimwise::batch_dim<> {};
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct d_model : dimwise::feature_dim<4> {};
struct heads : dimwise::heads_dim<2> {};
struct d_k : dimwise::divided<d_model, heads> {};
struct d_v : dimwise::divided<d_model, heads> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

namespace {

struct weights {
  tensor<float, d_model, heads, d_k> q, k;
  tensor<float, d_model, heads, d_v> v;
  tensor<float, heads, d_v, d_model> o;
};

// Queries, keys and values cannot be swapped: each has a dimension that the others lack.
template <has_dims<batch, seq, heads, d_k> Q, has_dims<batch, key, heads, d_k> K, has_dims<batch, key, heads, d_v> V,
          mask M>
auto attend(const Q& q, const K& k, const V& v, const M& visible) {
  return contract<key>(softmax<key>(masked(scores<d_k>(q, k), visible)), v);
}

template <has_dims<batch, seq, d_model> X>
tensor<float, batch, seq, d_model> self_attention(const X& x, const weights& w) {
  auto k = rename<seq, key>(contract<d_model>(x, w.k));
  auto v = rename<seq, key>(contract<d_model>(x, w.v));
  return contract<heads, d_v>(attend(contract<d_model>(x, w.q), k, v, causal<seq, key>{}), w.o);
}

template <class X>
concept self_attends = requires(const X& x, const weights& w) { self_attention(x, w); };
static_assert(self_attends<tensor<float, batch, seq, d_model>>);
static_assert(self_attends<tensor<float, seq, batch, d_model>>);   // any memory order is accepted
static_assert(!self_attends<tensor<float, batch, key, d_model>>);  // keys are not queries

weights some_weights() {
  weights w;
  const auto fill = [](auto& t, float seed) {
    std::vector<float> values(t.size());
    for (std::size_t i = 0; i < values.size(); ++i) { values[i] = std::sin(seed + 1.3F * static_cast<float>(i)); }
    t.assign(values);
  };
  fill(w.q, 1);
  fill(w.k, 2);
  fill(w.v, 3);
  fill(w.o, 4);
  return w;
}

}  // namespace

int main() {
  const weights w = some_weights();
  tensor<float, batch, seq, d_model> x({1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 1, 0, 1},
                                       batch{2}, seq{3});
  const tensor y = self_attention(x, w);
  std::cout << "x: " << describe(x) << '\n';
  std::cout << "self-attention: " << y;

  // Causal: later positions do not change earlier ones. The first two positions alone give the same rows.
  const tensor begun = self_attention(slice<seq>(x, 0, 2), w);
  const tensor rows = slice<seq>(y, 0, 2);
  std::printf("two positions do not see the third: %s\n",
              examples::largest_difference(begun.values(), rows.values()) < 1e-5 ? "yes" : "no");

  // Arguments may be expressions: add positional encodings in the call.
  std::cout << "with positions: " << self_attention(x + sinusoid<seq, d_model>(seq{3}), w);

  // Any memory order is accepted; the result has the order of its declared type.
  tensor<float, seq, batch, d_model> sequence_first = x;
  const tensor same = self_attention(sequence_first, w);
  std::printf("sequence first gives the same: %s\n",
              examples::largest_difference(same.values(), y.values()) < 1e-5 ? "yes" : "no");
}
