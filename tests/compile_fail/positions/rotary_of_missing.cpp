// MISTAKE: the keys are rotated by the queries' positions.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*rotary.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = rotary<key, d_k>(k);
#else
  RESULT r = rotary<seq, d_k>(k);
#endif
}
