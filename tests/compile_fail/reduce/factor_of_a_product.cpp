// MISTAKE: a sum over heads that are merged with their features.
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*sum.*heads
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = sum<heads>(z);
#else
  RESULT r = sum<heads>(merge<heads, d_v>(z));
#endif
}
