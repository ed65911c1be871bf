// MISTAKE: what a recurrent cell takes in has heads, its state has none.
// RULE: R3
// EXPECT: ERROR_R3_assigned_dimensions_differ<.*heads
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, batch, slots, heads, d_v> updates_of_heads;

void layer() {
#ifdef FIXED
  RESULT y = recurrent(updates, slot_states);
#else
  RESULT y = recurrent(updates_of_heads, slot_states);
#endif
}
