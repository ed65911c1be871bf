// MISTAKE: softmax of unscaled products.
// RULE: R6
// EXPECT: ERROR_R6_raw_products_are_scaled_first<.*softmax.*raw<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(scaled<d_k>(contract<d_k>(q, k)));
#else
  RESULT r = softmax<key>(contract<d_k>(q, k));
#endif
}
