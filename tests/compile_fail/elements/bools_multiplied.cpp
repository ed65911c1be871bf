// MISTAKE: weights are multiplied by true and false; which of them stays is not said.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*elementwise.*normalised<.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void dropout(const tensor<bool, heads, seq, key>& dropped) {
#ifdef FIXED
  RESULT y = a * indicator(allow_of(block(dropped)));
#else
  RESULT y = a * dropped;
#endif
}
