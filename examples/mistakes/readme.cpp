// SPDX-License-Identifier: BSL-1.0
// MISTAKE: softmax over the queries instead of the keys: with numbered axes it runs, and every weight is wrong.
// EXPECT: ERROR_R7_mask_does_not_serve_this_dimension
// clang-format off
#include <dimwise/dimwise.hpp>

namespace demo {
struct batch   : dimwise::batch_dim<> {};              // extent known when the program runs
struct seq     : dimwise::position_dim<> {};
struct key     : dimwise::prime<seq> {};               // positions of the keys: another dimension than seq
struct d_model : dimwise::feature_dim<512> {};         // extent known to the compiler
struct heads   : dimwise::heads_dim<8> {};
struct d_k     : dimwise::divided<d_model, heads> {};  // 64; does not compile unless it divides
struct d_v     : dimwise::divided<d_model, heads> {};  // 64, but another dimension than d_k
}  // namespace demo

int main() {
  using namespace dimwise;
  using namespace demo;
  tensor<float, batch, seq, d_model> x(batch{2}, seq{5});                // zeros; x.assign(values) sets the elements
  tensor<float, d_model, heads, d_k> w_q, w_k;
  tensor<float, d_model, heads, d_v> w_v;
  tensor<float, heads, d_v, d_model> w_o;

  auto q = contract<d_model>(x, w_q);                                    // batch seq heads d_k
  auto k = rename<seq, key>(contract<d_model>(x, w_k));                  // batch key heads d_k
  auto v = rename<seq, key>(contract<d_model>(x, w_v));                  // batch key heads d_v
#ifdef FIXED
  auto a = softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{}));
#else
  auto a = softmax<seq>(masked(scores<d_k>(q, k), causal<seq, key>{}));
#endif
  tensor<float, batch, seq, d_model> y = contract<heads, d_v>(contract<key>(a, v), w_o);
}
