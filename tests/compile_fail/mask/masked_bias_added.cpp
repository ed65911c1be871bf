// MISTAKE: a masked bias is added to scores that are not masked.
// RULE: R7
// EXPECT: ERROR_R7_bias_is_masked_instead_of_the_scores<.*elementwise.*masked_for<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, heads, seq, key> bias;

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(masked(s + bias, causal<seq, key>{}));
#else
  RESULT r = softmax<key>(s + masked(bias, causal<seq, key>{}));
#endif
}
