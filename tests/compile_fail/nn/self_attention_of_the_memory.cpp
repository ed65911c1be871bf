// MISTAKE: the decoder's self-attention is given the encoder's output.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*rename.*seq
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = attends_itself(x);
#else
  RESULT y = attends_itself(memory);
#endif
}
