// MISTAKE: a mask that is true where something is hidden is combined with one that is true where it is visible.
// RULE: R7
// EXPECT: ERROR_R7_block_mask_needs_allow_of<.*mask_and
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<bool, batch, key>& hidden) {
#ifdef FIXED
  RESULT r = masked(s, allow_of(block(hidden)) & causal<seq, key>{});
#else
  RESULT r = masked(s, block(hidden) & causal<seq, key>{});
#endif
}
