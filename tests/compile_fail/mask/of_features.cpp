// MISTAKE: a mask over features.
// RULE: R7
// EXPECT: ERROR_R7_mask_has_dimensions_that_the_scores_lack<.*masked.*d_k
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<bool, d_k>& bits) {
#ifdef FIXED
  RESULT r = masked(q, allow(bits));
#else
  RESULT r = masked(s, allow(bits));
#endif
}
