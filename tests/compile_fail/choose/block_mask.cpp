// MISTAKE: `where` chooses by a mask of the other polarity.
// RULE: R7
// EXPECT: ERROR_R7_block_mask_needs_allow_of<.*where.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bool, batch, seq> hidden;

void choose() {
#ifdef FIXED
  RESULT y = where(allow_of(block(hidden)), x, 0.0F);
#else
  RESULT y = where(block(hidden), x, 0.0F);
#endif
}
