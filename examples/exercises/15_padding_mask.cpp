// 15  Padding hides keys
//
// The sentences of a batch have different lengths, and nothing may attend to the padding after them: padding hides
// keys. A padding mask of the queries hides whole rows and leaves the padding visible to all other queries. All masks
// of one softmax must have the dimension that it normalises.
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
  tensor first = at<batch>(weights, 0);
  tensor second = at<batch>(weights, 1);
  expect(near(at<seq>(second, 2), {1, 0, 0}), "in the short sentence, one token is visible");
  expect(near(at<seq>(first, 0), {1, 0, 0}), "the first token sees no later one");
}
