// MISTAKE: logsumexp of products that nobody scaled.
// RULE: R6
// EXPECT: ERROR_R6_raw_products_are_scaled_first<.*logsumexp
// VARIANTS: equal dynamic
#include <dimwise/dimwise.hpp>

#include "../prelude.hpp"

void attention() {
#ifdef FIXED
  RESULT r = logsumexp<key>(s);
#else
  RESULT r = logsumexp<key>(products);
#endif
}
