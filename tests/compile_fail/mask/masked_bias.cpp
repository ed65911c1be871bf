// MISTAKE: a bias is masked, and not the scores that it is added to.
// RULE: R7
// EXPECT: ERROR_R7_bias_is_masked_instead_of_the_scores<.*biased.*masked_for<
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, heads, seq, key> bias;

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(masked(biased(s, bias), causal<seq, key>{}));
#else
  RESULT r = softmax<key>(biased(s, masked(bias, causal<seq, key>{})));
#endif
}
