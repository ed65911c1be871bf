// MISTAKE: what is true is counted by a sum of bools.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*sum.*batch.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void count(const tensor<bool, batch, seq>& present) {
#ifdef FIXED
  RESULT y = sum<seq>(indicator(allow(present)));
#else
  RESULT y = sum<seq>(present);
#endif
}
