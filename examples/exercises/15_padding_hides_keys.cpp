// 15  Padding hides keys
//
// Sentences of a batch have different lengths; what is behind the end is padding, and nobody may look at it. So it is
// keys that are hidden. A padding of the queries hides whole rows, and leaves the padding visible to everybody else.
// All masks of one softmax must have its dimension.
//
// FAILS: ERROR_R7_masks_serve_no_common_dimension, line 23
// FROM: key-padding mask laid on the query axis
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct batch : batch_dim<2> {};
struct seq : position_dim<3> {};
struct key : prime<seq> {};
struct d_k : feature_dim<2> {};

int main() {
  tensor<float, batch, seq, d_k> q;
  tensor<float, batch, key, d_k> k;
  tensor<int, batch> lengths({3, 1});
  auto mask = causal<seq, key>{} & padding<seq>(lengths);
  tensor weights = softmax<key>(masked(scores<d_k>(q, k), mask));
  tensor second = at<batch>(weights, 1);
  expect(near(at<seq>(second, 2), {1, 0, 0}), "in the short sentence, one word is visible");
}
