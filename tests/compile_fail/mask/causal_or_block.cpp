// MISTAKE: a mask that is true where something is hidden is combined with one that is true where it is visible, behind it.
// RULE: R7
// EXPECT: ERROR_R7_block_mask_needs_allow_of<.*mask_or
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<bool, batch, key>& hidden) {
#ifdef FIXED
  RESULT r = masked(s, causal<seq, key>{} | allow_of(block(hidden)));
#else
  RESULT r = masked(s, causal<seq, key>{} | block(hidden));
#endif
}
