// MISTAKE: two masks joined with && as if each were a single truth.
// RULE: R7
// EXPECT: ERROR_R7_mask_is_no_condition<.*causal<.*seq.*key
#include "../prelude.hpp"

void layer(const tensor<bool, batch, key>& is_word) {
#ifdef FIXED
  RESULT y = softmax<key>(masked(s, causal<seq, key>{} & allow(is_word)));
#else
  RESULT y = softmax<key>(masked(s, causal<seq, key>{} && allow(is_word)));
#endif
}
