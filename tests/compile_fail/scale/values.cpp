// MISTAKE: attended values are scaled like scores.
// RULE: R6
// EXPECT: ERROR_R6_scaled_takes_raw_products<.*d_v
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<key>(a, v);
#else
  RESULT r = scaled<d_v>(contract<key>(a, v));
#endif
}
