// 04  Dimensions after a product: a solution
//
// HINT: The hidden layer has the dimensions seq and d_ff.
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
  tensor<float, seq> largest = max<d_ff>(hidden);
  expect(near(largest, {3, 7}), "the maximum hidden feature of each position");
}
