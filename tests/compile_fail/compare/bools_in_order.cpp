// MISTAKE: a mask is ordered against another: which of them hides more is meant.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*compare.*seq.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bool, batch, seq> first, second;

void hidden() {
#ifdef FIXED
  RESULT y = first != second;
#else
  RESULT y = first < second;
#endif
}
