// MISTAKE: an embedding is scaled like a product of positions.
// RULE: R6
// EXPECT: ERROR_R6_scaled_takes_raw_products<.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = x * 22.6F;
#else
  RESULT r = scaled<d_model>(x);
#endif
}
