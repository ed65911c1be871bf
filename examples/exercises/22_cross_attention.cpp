// 22  Cross-attention
//
// In cross-attention the decoder provides the queries, the encoder the keys and values. The weights below go over
// source. Values computed from the decoder's state have no source.
//
// FAILS: ERROR_R3_values_are_at_other_positions_than_the_weights, line 25
// FROM: cross-attention K,V taken from the decoder (or Q from the encoder)
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct target : position_dim<2> {};
struct source : position_dim<3> {};
struct d_model : feature_dim<2> {};
struct d_k : feature_dim<2> {};
struct d_v : feature_dim<2> {};

int main() {
  tensor<float, target, d_model> x({0, 0, 0, 0});
  tensor<float, source, d_model> memory({3, 0, 0, 3, 3, 3});
  tensor<float, d_model, d_k> w_q({1, 2, 3, 4}), w_k({1, 0, 0, 1});
  tensor<float, d_model, d_v> w_v({1, 0, 0, 1});
  tensor weights = softmax<source>(scores<d_k>(contract<d_model>(x, w_q), contract<d_model>(memory, w_k)));
  tensor y = contract<source>(weights, contract<d_model>(x, w_v));
  expect(near(y, {2, 2, 2, 2}), "equal weights: the mean of the memory");
}
