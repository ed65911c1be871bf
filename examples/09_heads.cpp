// SPDX-License-Identifier: BSL-1.0
// 09_heads -- multiple heads as a dimension of queries, keys and values.
//
// A heads dimension is parallel: every head meets itself without a loop or transpose. W_O contracts heads and features
// together. Grouped keys lack the dimension of the group, and nothing is repeated.

#include <dimwise/dimwise.hpp>

#include <cmath>
#include <iostream>
#include <vector>

namespace lesson {
struct seq : dimwise::position_dim<3> {};
struct key : dimwise::prime<seq> {};
struct d_model : dimwise::feature_dim<4> {};
struct heads : dimwise::heads_dim<2> {};
struct d_k : dimwise::divided<d_model, heads> {};
struct d_v : dimwise::divided<d_model, heads> {};
struct kv_heads : dimwise::heads_dim<2> {};  // grouped heads: each of 2 key heads is shared by 3 query heads
struct per_kv : dimwise::heads_dim<3> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

namespace {

// Small test values without a pattern.
template <class Tensor>
Tensor filled(float seed) {
  Tensor t;
  std::vector<float> values(t.size());
  for (std::size_t i = 0; i < values.size(); ++i) { values[i] = std::sin(seed + 1.7F * static_cast<float>(i)); }
  t.assign(values);
  return t;
}

}  // namespace

int main() {
  const auto x = filled<tensor<float, seq, d_model>>(1);
  const auto w_q = filled<tensor<float, d_model, heads, d_k>>(2);
  const auto w_k = filled<tensor<float, d_model, heads, d_k>>(3);
  const auto w_v = filled<tensor<float, d_model, heads, d_v>>(4);
  const auto w_o = filled<tensor<float, heads, d_v, d_model>>(5);

  auto q = contract<d_model>(x, w_q);
  auto k = rename<seq, key>(contract<d_model>(x, w_k));
  auto v = rename<seq, key>(contract<d_model>(x, w_v));
  std::cout << "q: " << describe(q) << '\n';
  std::cout << "k: " << describe(k) << '\n';
  std::cout << "v: " << describe(v) << '\n';

  // In plain C++ this is a loop over heads around the loops of 06, on slices with offsets computed by hand.
  tensor a = softmax<key>(scores<d_k>(q, k));
  std::cout << "weights: " << a;

  auto z = contract<key>(a, v);
  tensor y = contract<heads, d_v>(z, w_o);
  std::cout << "of each head: " << describe(z) << '\n';
  std::cout << "y: " << y;

  // merged<heads, d_v> has the extent of d_model but is another dimension: W_O cannot be omitted.
  std::cout << "side by side: " << describe(merge<heads, d_v>(z)) << '\n';

  // Grouped heads: queries have two heads dimensions, keys one of them.
  const auto many_q = filled<tensor<float, seq, kv_heads, per_kv, d_k>>(6);
  const auto few_k = filled<tensor<float, key, kv_heads, d_k>>(7);
  std::cout << "grouped scores: " << describe(scores<d_k>(many_q, few_k)) << '\n';
}
