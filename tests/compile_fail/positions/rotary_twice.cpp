// MISTAKE: queries are rotated twice.
// RULE: R9
// EXPECT: ERROR_R9_already_rotated<.*rotary.*rotated<
// FROM: rotated twice / value rotated
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = rotary<seq, d_k>(q);
#else
  RESULT r = rotary<seq, d_k>(rotary<seq, d_k>(q));
#endif
}
