// MISTAKE: cross-attention attends to the decoder's own state.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*scores.*src
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = attends_memory(x, memory);
#else
  RESULT y = attends_memory(x, x);
#endif
}
