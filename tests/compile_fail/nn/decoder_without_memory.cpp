// MISTAKE: a decoder layer attends to its own state instead of the memory.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*scores.*src
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = decodes(x, memory);
#else
  RESULT y = decodes(x, x);
#endif
}
