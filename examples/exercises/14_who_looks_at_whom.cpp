// 14  Who looks at whom
//
// `causal<Q, K>` lets a query see the keys up to its own place. With the two the other way round every word sees the
// future, and only the loss, which becomes too good, shows it. A mask is made for the softmax over its key side.
//
// FAILS: ERROR_R7_mask_does_not_serve_this_dimension, line 21
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
  expect(near(at<seq>(weights, 0), {1, 0, 0}), "the first word sees no later one");
}
