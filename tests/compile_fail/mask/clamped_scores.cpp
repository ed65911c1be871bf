// MISTAKE: a soft cap of the scores after the mask.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_are_given_to_a_function<.*masked_for<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(masked(50.0F * tanh(s / 50.0F), causal<seq, key>{}));
#else
  RESULT r = softmax<key>(50.0F * tanh(masked(s, causal<seq, key>{}) / 50.0F));
#endif
}
