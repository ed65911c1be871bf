// MISTAKE: a bias made from positions among masks.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*mask_and.*alibi
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(masked(biased(s, alibi<seq, key, heads>{}), causal<seq, key>{}));
#else
  RESULT y = softmax<key>(masked(s, causal<seq, key>{} & alibi<seq, key, heads>{}));
#endif
}
