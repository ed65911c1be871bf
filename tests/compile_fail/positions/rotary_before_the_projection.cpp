// MISTAKE: rotary goes over the width of the model, before the projection.
// RULE: R9
// EXPECT: ERROR_R9_only_one_operand_is_rotated<.*rotated<
// FROM: rotation over full model width instead of head features
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = rotary<seq, d_k>(contract<d_model>(x, w_q));
#else
  RESULT r = contract<d_model>(rotary<seq, d_model>(x), w_q);
#endif
}
