// SPDX-License-Identifier: BSL-1.0
// 09_heads -- several heads are one more dimension that queries, keys and values share.
//
// Shows: a heads dimension is parallel, so every head meets itself without a loop, a stack or a transpose; W_O ends
// heads and their features together; keys that several query heads share simply lack the dimension, and nothing is
// repeated.
#include "support/print.hpp"

namespace lesson {
struct seq : dimwise::position_dim<3> {};
struct key : dimwise::prime<seq> {};
struct d_model : dimwise::feature_dim<4> {};
struct heads : dimwise::heads_dim<2> {};
struct d_k : dimwise::divided<d_model, heads> {};
struct d_v : dimwise::divided<d_model, heads> {};
struct kv_heads : dimwise::heads_dim<2> {};  // grouped heads: each of 2 key heads serves 3 query heads
struct per_kv : dimwise::heads_dim<3> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;
using examples::print_shape;
using examples::print_values;

namespace {

// Small numbers that look unordered.
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
  print_shape("q", q);
  print_shape("k", k);
  print_shape("v", v);

  // In plain C++ this is a loop over heads around the loops of 06, on slices whose offsets are computed by hand.
  tensor a = softmax<key>(scores<d_k>(q, k));
  print_shape("weights", a);
  print_values(a, {"head 0", "", "", "head 1", "", ""});

  auto z = contract<key>(a, v);
  tensor y = contract<heads, d_v>(z, w_o);
  print_shape("of each head", z);
  print_shape("y", y);
  print_values(y);

  // The dimension merged<heads, d_v> is as large as d_model, and is not d_model: W_O cannot be left out.
  print_shape("side by side", merge<heads, d_v>(z));

  // Grouped heads: queries carry two dimensions for their heads, keys one of them.
  const auto many_q = filled<tensor<float, seq, kv_heads, per_kv, d_k>>(6);
  const auto few_k = filled<tensor<float, key, kv_heads, d_k>>(7);
  print_shape("grouped scores", scores<d_k>(many_q, few_k));
}
