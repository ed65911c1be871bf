// MISTAKE: a tensor of bool is compared with a number.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*compare.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bool, batch, seq> flags;

void hidden() {
#ifdef FIXED
  RESULT y = flags == true;
#else
  RESULT y = flags == 1;
#endif
}
