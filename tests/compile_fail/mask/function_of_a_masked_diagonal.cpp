// MISTAKE: a function of the diagonal of masked scores.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_are_given_to_a_function<.*map
// VARIANTS: unused
#include "../prelude.hpp"

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(masked(s, causal<seq, key>{}));
#else
  RESULT y = relu(diagonal<seq, key>(masked(s, causal<seq, key>{})));
#endif
}
