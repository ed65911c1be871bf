// MISTAKE: a choice between truth and a number.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*where.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bool, batch, seq> flags;

void choose() {
#ifdef FIXED
  RESULT y = where(padding<seq>(lengths), flags, false);
#else
  RESULT y = where(padding<seq>(lengths), flags, 0.0F);
#endif
}
