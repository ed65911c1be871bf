// 02  Run-time extents
//
// `batch_dim<>` and `position_dim<>` have no extent in their type. Pass each run-time extent to the constructor, as an
// object of its dimension: `batch{2}`. The object names the dimension, so 2 and 3 cannot be swapped by their order.
// Static extents, such as that of `d_model`, are optional. The tensor has 2 examples of 3 positions.
//
// FAILS: ERROR_R15_run_time_extents_are_given_once, line 18
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct d_model : feature_dim<4> {};

int main() {
  tensor<float, batch, seq, d_model> x(batch{2});
  expect(extent_of<batch>(x) == 2 && extent_of<seq>(x) == 3, "2 examples of 3 positions");
}
