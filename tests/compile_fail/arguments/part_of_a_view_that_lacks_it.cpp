// MISTAKE: a part of a view is taken along a dimension that the view lacks.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*within.*later.*now
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct now : position_dim<> {};
struct later : position_dim<> {};

void layer(const tensor_view<float, now, d_model>& states) {
#ifdef FIXED
  RESULT y = states.within(2, now{3});
#else
  RESULT y = states.within(2, later{3});
#endif
}
