// 10  Softmax over the keys: a solution
//
// HINT: The mistake is one line above the error: the weights are `normalised<seq>`.
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
  tensor weights = softmax<key>(scores<d_k>(q, k));
  tensor y = contract<key>(weights, v);
  expect(near(y, {0.731059F, 0.880797F}), "each query's mean of the values");
}
