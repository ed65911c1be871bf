// MISTAKE: the logarithm of softmax is taken of unscaled products.
// RULE: R6
// EXPECT: ERROR_R6_raw_products_are_scaled_first<.*log_softmax
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = log_softmax<key>(unscaled(products));
#else
  RESULT r = log_softmax<key>(products);
#endif
}
