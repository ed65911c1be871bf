// MISTAKE: the weights of self-attention over the target are asked of the memory.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*rename.*seq
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = attends_itself.weights(x);
#else
  RESULT y = attends_itself.weights(memory);
#endif
}
