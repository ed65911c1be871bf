// MISTAKE: a tensor of bool as a mask, without saying what true means.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*masked.*seq.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<bool, seq, key>& bits) {
#ifdef FIXED
  RESULT r = masked(s, allow(bits));
#else
  RESULT r = masked(s, bits);
#endif
}
