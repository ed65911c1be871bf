// 15  Padding hides keys: a solution
//
// HINT: `padding<key>(lengths)` hides the keys after each length.
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
  auto mask = causal<seq, key>{} & padding<key>(lengths);
  tensor weights = softmax<key>(masked(scores<d_k>(q, k), mask));
  tensor first = at<batch>(weights, 0);
  tensor second = at<batch>(weights, 1);
  expect(near(at<seq>(second, 2), {1, 0, 0}), "in the short sentence, one token is visible");
  expect(near(at<seq>(first, 0), {1, 0, 0}), "the first token sees no later one");
}
