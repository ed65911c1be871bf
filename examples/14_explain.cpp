// SPDX-License-Identifier: BSL-1.0
// 14_explain -- the derivation of an expression's shape as text.
//
// `explain` prints one step per operation, before anything is computed: dimensions that appear and vanish, marks that
// are set and removed, costs, and the plan. `describe` prints the shape alone.

#include <dimwise/dimwise.hpp>

#include <cstdio>

namespace lesson {
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct d_model : dimwise::feature_dim<8> {};
struct heads : dimwise::heads_dim<2> {};
struct d_k : dimwise::divided<d_model, heads> {};
struct d_v : dimwise::divided<d_model, heads> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

int main() {
  tensor<float, seq, heads, d_k> q(seq{5});
  tensor<float, key, heads, d_k> k(key{5});
  tensor<float, key, heads, d_v> v(key{5});
  tensor<float, heads, d_v, d_model> w_o;

  auto products = contract<d_k>(q, k);
  std::printf("The products alone: %s\n\n", describe(products).c_str());
  std::printf("%s\n", explain(products).text().c_str());

  auto a = softmax<key>(masked(scaled<d_k>(products), causal<seq, key>{}));
  auto y = contract<heads, d_v>(contract<key>(a, v), w_o);
  std::printf("The whole of attention: %s\n\n", describe(y).c_str());
  std::printf("%s\n", explain(y).text().c_str());

  // Nothing is computed yet. `tensor t = y;` computes; an `auto` that is used twice is computed twice.
  tensor t = y;
  std::printf("Computed: %zu elements\n", t.size());
}
