// 02  Extents that the program decides
//
// `batch_dim<>` has no number: its extent is given when the program runs, once, as an object of the dimension. An
// object says which dimension it is, so nobody swaps the 2 and the 3. What has a number, as `d_model`, is not given
// again.
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
  expect(x.size() == 24, "2 examples of 3 positions with 4 features");
}
