// MISTAKE: a causal mask over features that the scores lack: one error, also where compilers go on.
// RULE: R13
// EXPECT: ERROR_R13_needs_ordered_positions<.*causal.*d_model
// VARIANTS: unused
#include "../prelude.hpp"

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(masked(s, causal<seq, key>{}));
#else
  RESULT y = softmax<key>(masked(s, causal<d_model, key>{} & causal<seq, key>{}));
#endif
}
