// MISTAKE: the causal mask is transposed: queries see the future.
// RULE: R7
// EXPECT: ERROR_R7_mask_does_not_serve_this_dimension<.*softmax.*key.*masked_for<.*seq.*over<.*seq>
// FROM: causal mask transposed (query sees the future)
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(masked(s, causal<seq, key>{}));
#else
  RESULT r = softmax<key>(masked(s, causal<key, seq>{}));
#endif
}
