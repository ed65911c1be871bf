// MISTAKE: the encoder's layers are given the target.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*rename.*src
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = encodes(memory);
#else
  RESULT y = encodes(x);
#endif
}
