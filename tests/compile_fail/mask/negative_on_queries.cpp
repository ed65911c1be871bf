// MISTAKE: minus infinity is added where queries are padded.
// RULE: R7
// EXPECT: ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over<.*softmax.*key.*biased_for<.*seq
// FROM: key-padding mask laid on the query axis
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, batch, seq> negative;
extern tensor<float, batch, key> negative_keys;

void layer() {
#ifdef FIXED
  RESULT r = softmax<key>(s + negative_keys);
#else
  RESULT r = softmax<key>(s + negative);
#endif
}
