// MISTAKE: products that are not scaled are added as a bias.
// RULE: R6
// EXPECT: ERROR_R6_raw_products_are_scaled_first<.*biased.*raw<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = biased(s, unscaled(products));
#else
  RESULT r = biased(s, products);
#endif
}
