// 24  Square weights have two sides
//
// A weight from d_model to d_model is square, and numbers do not say which side is the input. `out<d_model>` is the
// output side. The product goes over the input side; its result is called d_model again.
//
// FAILS: ERROR_R12_weight_is_applied_the_wrong_way_round, line 19
// FROM: weight stored (out,in) used as (in,out)
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<1> {};
struct d_model : feature_dim<2> {};

int main() {
  tensor<float, seq, d_model> x({1, 10});
  tensor<float, d_model, out<d_model>> w({1, 2, 3, 4});
  tensor<float, seq, d_model> y = contract<out<d_model>>(x, w);
  expect(near(y, {31, 42}), "rows are inputs");
}
