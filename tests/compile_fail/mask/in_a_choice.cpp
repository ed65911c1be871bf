// MISTAKE: a mask chooses between two values.
// RULE: R7
// EXPECT: ERROR_R7_mask_is_no_condition<
#include "../prelude.hpp"

extern tensor<bool, batch, key> is_word;

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(masked(s, causal<seq, key>{} & allow(is_word)));
#else
  RESULT y = softmax<key>(allow(is_word) ? masked(s, allow(is_word)) : masked(s, allow(is_word)));
#endif
}
