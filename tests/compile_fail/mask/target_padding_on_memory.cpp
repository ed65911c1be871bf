// MISTAKE: the target's padding is used for scores against the memory.
// RULE: R7
// EXPECT: ERROR_R7_mask_has_dimensions_that_the_scores_lack<.*masked.*src.*key
// FROM: target mask used for memory (or query unpadded with key mask)
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = masked(s_src, padding<src>(lengths));
#else
  RESULT r = masked(s_src, padding<key>(lengths));
#endif
}
