// MISTAKE: an extent is given twice.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*steps
// VARIANTS: equal unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct steps : position_dim<> {};

void layer() {
#ifdef FIXED
  tensor<float, steps, d_model> t(steps{3});
#else
  tensor<float, steps, d_model> t(steps{3}, steps{4});
#endif
}
