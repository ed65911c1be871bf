// 10  Weights sum to one over the keys
//
// For each query the weights of all keys sum to one. Softmax over the queries gives a table that looks the same, and
// every result is wrong. The type remembers over what the weights sum to one, so the next step notices; read there
// which dimension the weights have, and go back to where they got it.
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
