// MISTAKE: a part of a view is taken with a number for its extent, which names no dimension.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*within.*int.*now
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct now : position_dim<> {};

void layer(const tensor_view<float, now, d_model>& states) {
#ifdef FIXED
  RESULT y = states.within(2, now{3});
#else
  RESULT y = states.within(2, 3);
#endif
}
