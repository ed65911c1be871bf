// 24  Square weights have two sides
//
// A weight from d_model to d_model is square, and extents do not tell the input from the output. `out<d_model>` is the
// output side. Contract the input side; the result is renamed to d_model.
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
