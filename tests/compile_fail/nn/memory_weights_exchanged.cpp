// MISTAKE: the weights of attention to the memory are asked with the memory first.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*scores.*seq
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = attends_memory.weights(x, memory);
#else
  RESULT y = attends_memory.weights(memory, x);
#endif
}
