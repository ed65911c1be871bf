// MISTAKE: inputs have heads that the slots do not have.
// RULE: R3
// EXPECT: ERROR_R3_assigned_dimensions_differ<.*heads
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, batch, heads, src, d_model> memory_of_heads;

void layer() {
#ifdef FIXED
  RESULT y = competing(memory, slot_states);
#else
  RESULT y = competing(memory_of_heads, slot_states);
#endif
}
