// SPDX-License-Identifier: BSL-1.0
// 15_attention -- the program of the README: multi-head self-attention with a causal mask.
//
// Shows all that came before in one place. Nothing is computed until the last but one line, whose type says what is
// wanted: the library sees softmax of scores, contracted with values, in the type of the expression. Ask for `a` itself
// (`tensor p = a;`) and you get the weights.

// clang-format off
// [attention]
#include <iostream>

#include <dimwise/dimwise.hpp>

namespace demo {
struct batch   : dimwise::batch_dim<> {};              // extent known when the program runs
struct seq     : dimwise::position_dim<> {};
struct key     : dimwise::prime<seq> {};               // the positions attended to: not the same dimension as seq
struct d_model : dimwise::feature_dim<512> {};         // extent known to the compiler
struct heads   : dimwise::heads_dim<8> {};
struct d_k     : dimwise::divided<d_model, heads> {};  // 64; does not compile where it does not divide
struct d_v     : dimwise::divided<d_model, heads> {};  // 64, and not the same dimension as d_k
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
  auto a = softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{}));  // batch heads seq key, normalised<key>
  tensor<float, batch, seq, d_model> y = contract<heads, d_v>(contract<key>(a, v), w_o);
  std::cout << describe(y) << '\n';                                      // batch[2] seq[5] d_model[512]
}
// [/attention]
