// MISTAKE: position and feature of rotary are swapped.
// RULE: R9
// EXPECT: ERROR_R9_rotary_takes_positions_and_the_features_of_a_head<.*rotary.*d_k.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = rotary<seq, d_k>(q);
#else
  RESULT r = rotary<d_k, seq>(q);
#endif
}
