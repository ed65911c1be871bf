// MISTAKE: queries that are rotated have no positions.
// RULE: R9
// EXPECT: ERROR_R9_rotary_takes_positions_and_the_features_of_a_head<.*rotary.*d_k
// VARIANTS: equal unused dynamic
#include "../nn/nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = rotating(x, rename<seq, key>(x), rename<seq, key>(x));
#else
  RESULT y = rotating(mean<seq>(x), memory, memory);
#endif
}
