// MISTAKE: logsumexp of unscaled products.
// RULE: R6
// EXPECT: ERROR_R6_raw_products_are_scaled_first<.*logsumexp
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = logsumexp<key>(s);
#else
  RESULT r = logsumexp<key>(products);
#endif
}
