// MISTAKE: the opposite of a mask of the other polarity.
// RULE: R7
// EXPECT: ERROR_R7_block_mask_needs_allow_of<.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bool, seq, key> hidden;

void layer() {
#ifdef FIXED
  auto m = !allow_of(block(hidden));
#else
  auto m = !block(hidden);
#endif
}
