// MISTAKE: a tensor is given the extent of a dimension that it does not have.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*steps
// VARIANTS: equal unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct steps : position_dim<> {};
struct other : position_dim<> {};

void layer() {
#ifdef FIXED
  tensor<float, steps, d_model> t(steps{3});
#else
  tensor<float, steps, d_model> t(other{3});
#endif
}
