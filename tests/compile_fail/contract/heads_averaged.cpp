// MISTAKE: the heads are averaged instead of merged, then W_O is applied.
// RULE: R12
// EXPECT: ERROR_R12_weight_sums_over_heads_that_are_gone<.*heads
// FROM: heads averaged instead of merged
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<heads, d_v>(z, w_o);
#else
  RESULT r = contract<heads, d_v>(mean<heads>(z), w_o);
#endif
}
