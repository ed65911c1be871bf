// 12  Values have the positions of the keys
//
// The output of a query is the sum over key of weight times value, so values need the dimension key. Values over seq
// belong to the queries: each position would get its own value.
//
// FAILS: ERROR_R3_values_are_at_other_positions_than_the_weights, line 26
// FROM: weights*V indexes V by query
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct key : prime<seq> {};
struct d_model : feature_dim<2> {};
struct d_k : feature_dim<2> {};
struct d_v : feature_dim<2> {};

int main() {
  tensor<float, seq, d_model> x({1, 0, 0, 1});
  tensor<float, d_model, d_k> w_q({0, 0, 0, 0}), w_k({1, 2, 3, 4});
  tensor<float, d_model, d_v> w_v({1, 0, 0, 1});
  auto q = contract<d_model>(x, w_q);
  auto k = rename<seq, key>(contract<d_model>(x, w_k));
  auto v = contract<d_model>(x, w_v);
  tensor<float, seq, d_v> y = contract<key>(softmax<key>(scores<d_k>(q, k)), v);
  expect(near(y, {0.5F, 0.5F, 0.5F, 0.5F}), "equal weights: the mean of the values");
}
