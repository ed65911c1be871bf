// MISTAKE: an additive mask, 0 or minus infinity, is given as a mask.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*masked
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, seq, key>& penalty) {
#ifdef FIXED
  RESULT r = biased(s, penalty);
#else
  RESULT r = masked(s, penalty);
#endif
}
