// MISTAKE: scores are masked, then chosen from: what is hidden would be one of two.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_are_given_to_a_function<.*where.*masked_for<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bool, seq, key> near;

void choose() {
#ifdef FIXED
  RESULT y = softmax<key>(masked(where(near, s, 0.0F), causal<seq, key>{}));
#else
  RESULT y = softmax<key>(where(near, masked(s, causal<seq, key>{}), 0.0F));
#endif
}
