// MISTAKE: one factor of a merged dimension is reversed.
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*flip.*d_v
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = flip<d_v>(z);
#else
  RESULT r = flip<d_v>(merge<heads, d_v>(z));
#endif
}
