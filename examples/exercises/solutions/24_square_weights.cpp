// 24  Square weights have two sides: a solution
//
// HINT: Contract over d_model, the input side of the weight.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<1> {};
struct d_model : feature_dim<2> {};

int main() {
  tensor<float, seq, d_model> x({1, 10});
  tensor<float, d_model, out<d_model>> w({1, 2, 3, 4});
  tensor<float, seq, d_model> y = contract<d_model>(x, w);
  expect(near(y, {31, 42}), "rows are inputs");
}
