// MISTAKE: rows are hidden by a tensor that is true where something is hidden.
// RULE: R7
// EXPECT: ERROR_R7_block_mask_needs_allow_of<.*whole_rows.*seq
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<bool, seq>& some) {
#ifdef FIXED
  RESULT r = masked(s, whole_rows(allow_of(block(some))));
#else
  RESULT r = masked(s, whole_rows(block(some)));
#endif
}
