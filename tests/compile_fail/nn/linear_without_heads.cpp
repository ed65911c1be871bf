// MISTAKE: W_O sums over heads that the input no longer has.
// RULE: R12
// EXPECT: ERROR_R12_weight_sums_over_heads_that_are_gone<.*heads
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = to_output(z);
#else
  RESULT y = to_output(mean<heads>(z));
#endif
}
