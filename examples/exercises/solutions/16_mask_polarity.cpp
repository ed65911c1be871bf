// 16  The polarity of a mask: a solution
//
// HINT: Here true means hidden: `allow_of(block(hidden))`.
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
  tensor weights = softmax<key>(masked(scores<d_k>(q, k), allow_of(block(hidden))));
  expect(near(weights, {1, 0, 0.5F, 0.5F}), "query 0 does not see key 1");
}
