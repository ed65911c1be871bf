// MISTAKE: a roll that does not say along what.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*roll
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = roll<seq>(x, 1);
#else
  RESULT y = roll(x, 1);
#endif
}
