// MISTAKE: rotary counts heads instead of positions.
// RULE: R9
// EXPECT: ERROR_R9_rotary_takes_positions_and_the_features_of_a_head<.*rotary.*heads.*d_k
// FROM: RoPE indexed by head instead of position
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = rotary<seq, d_k>(q);
#else
  RESULT r = rotary<heads, d_k>(q);
#endif
}
