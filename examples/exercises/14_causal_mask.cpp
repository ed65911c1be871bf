// 14  The causal mask
//
// `causal<Q, K>` lets each query see the keys up to its own position: queries are named first. With the two exchanged,
// every token sees the future, and only a loss that is too low would show it. A mask serves a softmax over its key
// side, and this softmax is right.
//
// FAILS: ERROR_R7_mask_does_not_serve_this_dimension, line 22
// FROM: causal mask transposed (query sees the future)
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<3> {};
struct key : prime<seq> {};
struct d_k : feature_dim<2> {};

int main() {
  tensor<float, seq, d_k> q;
  tensor<float, key, d_k> k;
  auto visible = masked(scores<d_k>(q, k), causal<key, seq>{});
  tensor weights = softmax<key>(visible);
  expect(near(at<seq>(weights, 0), {1, 0, 0}), "the first token sees no later one");
}
