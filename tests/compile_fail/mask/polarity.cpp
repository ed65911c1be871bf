// MISTAKE: a mask that is true where something is hidden is taken for one that is true where it is visible.
// RULE: R7
// EXPECT: ERROR_R7_block_mask_needs_allow_of<.*masked
// FROM: polarity inverted
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<bool, batch, key>& hidden) {
#ifdef FIXED
  RESULT r = masked(s, allow_of(block(hidden)));
#else
  RESULT r = masked(s, block(hidden));
#endif
}
