// MISTAKE: a number as the scale: multiplying by it does not say that it is one.
// RULE: R6
// EXPECT: ERROR_R6_raw_product_was_multiplied_instead_of_scaled<.*softmax.*raw<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(scaled(contract<d_k>(q, k), 0.125F));
#else
  RESULT r = softmax<key>(contract<d_k>(q, k) * 0.125F);
#endif
}
