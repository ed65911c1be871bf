// 08  Scores are scaled
//
// Attention is softmax(Q K^T / sqrt(d_k)) V. Without the division softmax is nearly one-hot. The type records whether
// it was applied: a product of positions is `raw<d_k>` until it is scaled. `scores<d_k>(q, k)` computes the product and
// scales it.
//
// FAILS: ERROR_R6_raw_products_are_scaled_first, line 20
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct key : prime<seq> {};
struct d_k : feature_dim<4> {};

int main() {
  tensor<float, seq, d_k> q({2, 0, 0, 0, 0, 0, 0, 2});
  tensor<float, key, d_k> k({1, 0, 0, 0, 0, 0, 0, 1});
  tensor weights = softmax<key>(contract<d_k>(q, k));
  expect(near(weights, {0.731059F, 0.268941F, 0.268941F, 0.731059F}), "the scores are 1 and 0");
}
