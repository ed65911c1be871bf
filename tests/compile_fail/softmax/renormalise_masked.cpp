// MISTAKE: masked values are divided by their sum: hidden ones are minus infinity.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_go_to_softmax_or_a_reduction<.*renormalise
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, heads, seq, key>& a_plain) {
#ifdef FIXED
  RESULT r = softmax<key>(masked(a_plain, causal<seq, key>{}));
#else
  RESULT r = renormalise<key>(masked(a_plain, causal<seq, key>{}));
#endif
}
