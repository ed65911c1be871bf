// MISTAKE: the state of a recurrent cell is given as its input.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*d_v
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = recurrent(updates, slot_states);
#else
  RESULT y = recurrent(slot_states, slot_states);
#endif
}
