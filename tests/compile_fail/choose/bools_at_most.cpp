// MISTAKE: the larger of two masks: one of them, or both, is meant.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*minimum.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bool, batch, seq> flags;

void choose() {
#ifdef FIXED
  RESULT y = masked(x, allow(flags) & allow(flags));
#else
  RESULT y = min(flags, flags);
#endif
}
