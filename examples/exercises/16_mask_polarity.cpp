// 16  The polarity of a mask
//
// In some frameworks true means visible, in others hidden. A tensor of bool becomes a mask by `allow(m)` or `block(m)`.
// `masked` takes what is visible; `allow_of` converts a `block` mask explicitly.
//
// FAILS: ERROR_R7_block_mask_needs_allow_of, line 21
// FROM: polarity inverted
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct key : prime<seq> {};
struct d_k : feature_dim<2> {};

int main() {
  tensor<float, seq, d_k> q;
  tensor<float, key, d_k> k;
  tensor<bool, seq, key> hidden({false, true, false, false});
  tensor weights = softmax<key>(masked(scores<d_k>(q, k), block(hidden)));
  expect(near(weights, {1, 0, 0.5F, 0.5F}), "query 0 does not see key 1");
}
