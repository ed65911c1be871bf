// 41  Padding on the left
//
// This program compiles and runs, but its result is wrong. In batched decoding the prompts end together, so a short
// prompt is padded on the left. `padding<key>(lengths)` hides the keys after each length, as padding on the right
// needs. `is_padding` has the keys to hide: true means hidden.
//
// FAILS: when it runs, line 25
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct batch : batch_dim<2> {};
struct seq : position_dim<1> {};
struct key : position_dim<3> {};
struct d_k : feature_dim<2> {};

int main() {
  const tensor<float, batch, seq, d_k> q;  // zeros: equal weights
  const tensor<float, batch, key, d_k> k;
  const tensor<int, batch> lengths({3, 1});
  const tensor<bool, batch, key> is_padding({false, false, false, true, true, false});
  tensor weights = softmax<key>(masked(scores<d_k>(q, k), padding<key>(lengths)));
  expect(near(at<batch>(weights, 0), {1.0F / 3, 1.0F / 3, 1.0F / 3}), "the long prompt has no padding");
  expect(near(at<batch>(weights, 1), {0, 0, 1}), "the short prompt is its last token");
}
