// 10  Softmax over the keys
//
// The attention weights of each query sum to one over the keys. Softmax over the queries gives a table of the same
// shape, and every result is wrong. The mark `normalised<D>` records the dimension, and the next operation checks it.
// The error names the dimension of the mark; the mistake is in the line that set it.
//
// FAILS: ERROR_R5_weights_are_contracted_over_their_own_dimension, line 24
// FROM: softmax over queries
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct key : prime<seq> {};
struct d_k : feature_dim<4> {};
struct d_v : feature_dim<1> {};

int main() {
  tensor<float, seq, d_k> q({2, 0, 0, 0, 4, 0, 0, 0});
  tensor<float, key, d_k> k({1, 0, 0, 0, 0, 0, 0, 1});
  tensor<float, key, d_v> v({1, 0});
  tensor weights = softmax<seq>(scores<d_k>(q, k));
  tensor y = contract<key>(weights, v);
  expect(near(y, {0.731059F, 0.880797F}), "each query's mean of the values");
}
