// 02  Run-time extents: a solution
//
// HINT: `seq` has a run-time extent as well: `x(batch{2}, seq{3})`.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct d_model : feature_dim<4> {};

int main() {
  tensor<float, batch, seq, d_model> x(batch{2}, seq{3});
  expect(extent_of<batch>(x) == 2 && extent_of<seq>(x) == 3, "2 examples of 3 positions");
}
