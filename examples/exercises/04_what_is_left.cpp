// 04  What an earlier step left
//
// A product sums over a dimension, and the result lacks it. The hidden layer below has no d_model any more; the error
// shows what the operand has, the dimension that was named, and `-` where it is missing.
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
  expect(near(largest, {3, 7}), "the largest hidden feature of each position");
}
