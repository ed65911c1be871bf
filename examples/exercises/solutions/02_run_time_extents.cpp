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
  expect(x.size() == 24, "2 examples of 3 positions with 4 features");
}
