// MISTAKE: a mask is the condition of an if.
// RULE: R7
// EXPECT: ERROR_R7_mask_is_no_condition<
#include "../prelude.hpp"

extern tensor<bool, batch, key> is_word;

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(masked(s, causal<seq, key>{} & allow(is_word)));
#else
  if (causal<seq, key>{}) { RESULT y = s; }
#endif
}
