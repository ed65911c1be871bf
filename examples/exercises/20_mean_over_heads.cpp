// 20  No mean over heads
//
// The output weight has a dimension for the heads and mixes their results. The mean over heads would have the right
// shape for another weight, and discards which head found what. The type of the weight states what it expects.
//
// FAILS: ERROR_R12_weight_sums_over_heads_that_are_gone, line 21
// FROM: heads averaged instead of merged
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<1> {};
struct d_model : feature_dim<2> {};
struct heads : heads_dim<2> {};
struct d_v : feature_dim<2> {};

int main() {
  tensor<float, seq, heads, d_v> z({1, 2, 3, 4});
  tensor<float, heads, d_v, d_model> w_o({1, 0, 0, 1, 1, 0, 0, 1});
  tensor y = contract<heads, d_v>(mean<heads>(z), w_o);
  expect(near(y, {4, 6}), "both heads count");
}
