// MISTAKE: keys come from the decoder, values from the encoder.
// RULE: R3
// EXPECT: ERROR_R3_values_are_at_other_positions_than_the_weights<.*key
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = many_heads(x, memory, memory);
#else
  RESULT y = many_heads(x, rename<seq, key>(x), memory);
#endif
}
