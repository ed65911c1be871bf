// 04  Dimensions after a product
//
// `contract<D>` sums over D, so its result has no D. The hidden layer below has no d_model. The error lists the
// dimension that was named and the dimensions of the operand; `-` marks the missing one.
//
// FAILS: ERROR_R1_dimension_is_not_in_the_operand, line 20
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct d_model : feature_dim<2> {};
struct d_ff : feature_dim<3> {};

int main() {
  tensor<float, seq, d_model> x({1, 2, 3, 4});
  tensor<float, d_model, d_ff> w({1, 0, 1, 0, 1, 1});
  tensor hidden = contract<d_model>(x, w);
  tensor<float, seq> largest = max<d_model>(hidden);
  expect(near(largest, {3, 7}), "the maximum hidden feature of each position");
}
