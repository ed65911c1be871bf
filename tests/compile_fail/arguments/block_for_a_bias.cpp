// MISTAKE: a mask of the other polarity times scores.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*elementwise
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bool, seq, key> hidden;

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(masked(s, allow_of(block(hidden))));
#else
  RESULT y = s * block(hidden);
#endif
}
