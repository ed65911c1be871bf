// MISTAKE: one head of merged heads.
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*at.*heads
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = at<heads>(z, 1);
#else
  RESULT r = at<heads>(merge<heads, d_v>(z), 1);
#endif
}
