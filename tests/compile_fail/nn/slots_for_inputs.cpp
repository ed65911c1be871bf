// MISTAKE: slots and inputs are exchanged.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*src
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = competing(memory, slot_states);
#else
  RESULT y = competing(slot_states, memory);
#endif
}
