// MISTAKE: products are divided by their sum instead of softmax.
// RULE: R6
// EXPECT: ERROR_R6_raw_products_are_scaled_first<.*renormalise
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = renormalise<key>(plain(relu(products)));
#else
  RESULT r = renormalise<key>(products);
#endif
}
