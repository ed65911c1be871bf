// MISTAKE: a clamp with one bound.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*clamp
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = max(x, 0.0F);
#else
  RESULT y = clamp(x, 0.0F);
#endif
}
