// MISTAKE: a mean over positions that the operand does not have.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*mean.*src
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = mean<src>(memory);
#else
  RESULT r = mean<src>(x);
#endif
}
