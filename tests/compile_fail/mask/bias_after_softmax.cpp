// MISTAKE: a bias is added to attention weights.
// RULE: R7
// EXPECT: ERROR_R7_masking_comes_before_softmax<.*biased.*normalised<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, heads, seq, key>& bias) {
#ifdef FIXED
  RESULT r = softmax<key>(biased(s, bias));
#else
  RESULT r = biased(a, bias);
#endif
}
