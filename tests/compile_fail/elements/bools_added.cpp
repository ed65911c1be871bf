// MISTAKE: a mask of true and false is added to the scores.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*biased.*heads.*seq.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<bool, seq, key>& visible) {
#ifdef FIXED
  RESULT y = masked(s, allow(visible));
#else
  RESULT y = s + visible;
#endif
}
