// 13  The mask comes before softmax
//
// A mask hides scores, so that softmax distributes the total weight of one over the visible keys. After a softmax a
// mask would leave rows that sum to less than one.
//
// FAILS: ERROR_R7_masking_comes_before_softmax, line 19
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct key : prime<seq> {};
struct d_k : feature_dim<4> {};

int main() {
  tensor<float, seq, d_k> q({0, 0, 0, 0, 0, 0, 0, 0});
  tensor<float, key, d_k> k({1, 2, 3, 4, 5, 6, 7, 8});
  tensor weights = masked(softmax<key>(scores<d_k>(q, k)), causal<seq, key>{});
  expect(near(weights, {1, 0, 0.5F, 0.5F}), "the first token sees only itself");
}
