// 13  The mask comes before softmax: a solution
//
// HINT: Call `masked(scores, mask)` first, then `softmax<key>`.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct key : prime<seq> {};
struct d_k : feature_dim<4> {};

int main() {
  tensor<float, seq, d_k> q({0, 0, 0, 0, 0, 0, 0, 0});
  tensor<float, key, d_k> k({1, 2, 3, 4, 5, 6, 7, 8});
  tensor weights = softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{}));
  expect(near(weights, {1, 0, 0.5F, 0.5F}), "the first token sees only itself");
}
