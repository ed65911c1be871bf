// MISTAKE: weights with some of them dropped are masked.
// RULE: R7
// EXPECT: ERROR_R7_masking_comes_before_softmax<.*masked.*weighted<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, heads, seq, key>& kept) {
#ifdef FIXED
  RESULT r = softmax<key>(masked(s, causal<seq, key>{})) * kept;
#else
  RESULT r = masked(a * kept, causal<seq, key>{});
#endif
}
