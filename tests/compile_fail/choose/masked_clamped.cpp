// MISTAKE: scores are clamped after the mask: hidden ones would come back.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_are_given_to_a_function<.*clamp.*masked_for<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void choose() {
#ifdef FIXED
  RESULT y = softmax<key>(masked(clamp(s, -20.0F, 20.0F), causal<seq, key>{}));
#else
  RESULT y = softmax<key>(clamp(masked(s, causal<seq, key>{}), -20.0F, 20.0F));
#endif
}
