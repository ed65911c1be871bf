// MISTAKE: a mask in the place of the scores.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*masked
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(masked(s, window<seq, key>{2, 0}));
#else
  RESULT y = softmax<key>(masked(causal<seq, key>{}, s));
#endif
}
