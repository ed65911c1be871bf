// MISTAKE: the source is given for the target.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*rename.*src
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = translates(memory, x);
#else
  RESULT y = translates(x, memory);
#endif
}
