// MISTAKE: weights over the memory are computed under the mask of the decoder's own keys.
// RULE: R7
// EXPECT: ERROR_R7_mask_has_dimensions_that_the_scores_lack<.*masked.*src.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<src>(masked(s_src, padding<src>(lengths)));
#else
  RESULT r = softmax<src>(masked(s_src, causal<seq, key>{}));
#endif
}
