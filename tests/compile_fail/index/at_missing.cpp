// MISTAKE: the first position of a weight.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*at.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = at<seq>(q, 0);
#else
  RESULT r = at<seq>(w_q, 0);
#endif
}
