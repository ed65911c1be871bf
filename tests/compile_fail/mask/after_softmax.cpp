// MISTAKE: attention weights are masked: the others no longer sum to one.
// RULE: R7
// EXPECT: ERROR_R7_masking_comes_before_softmax<.*masked.*normalised<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(masked(s, causal<seq, key>{}));
#else
  RESULT r = masked(softmax<key>(s), causal<seq, key>{});
#endif
}
