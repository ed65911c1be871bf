// MISTAKE: the pair bias was summed over the keys before it was added.
// RULE: R7
// EXPECT: ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over<.*softmax.*key.*biased_for<.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, heads, seq, key> pair_bias;

void layer() {
#ifdef FIXED
  RESULT r = softmax<key>(biased(s, pair_bias));
#else
  RESULT r = softmax<key>(biased(s, sum<key>(pair_bias)));
#endif
}
