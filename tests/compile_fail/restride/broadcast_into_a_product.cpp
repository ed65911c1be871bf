// MISTAKE: heads are added beside heads that are merged with their features.
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*broadcast_like
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = broadcast_like(z, a);
#else
  RESULT r = broadcast_like(merge<heads, d_v>(z), a);
#endif
}
