// MISTAKE: heads stand before positions in memory, and are flattened together with them.
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*split.*seq.*heads
// FROM: merge heads without moving heads back
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = merge<heads, d_v>(permute<batch, heads, seq, d_v>(z));
#else
  RESULT r = split<seq, heads>(merge<heads, seq>(permute<batch, heads, seq, d_v>(z)));
#endif
}
