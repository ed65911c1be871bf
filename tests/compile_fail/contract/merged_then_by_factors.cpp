// MISTAKE: heads are merged, then contracted by their factors.
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*heads.*d_v
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<heads, d_v>(z, w_o);
#else
  RESULT r = contract<heads, d_v>(merge<heads, d_v>(z), w_o);
#endif
}
