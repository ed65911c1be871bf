// MISTAKE: the products are scaled by hand, and biased.
// RULE: R6
// EXPECT: ERROR_R6_raw_product_was_multiplied_instead_of_scaled<.*biased.*raw<
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, heads, key> bias;

void layer() {
#ifdef FIXED
  RESULT r = softmax<key>(biased(scaled(contract<d_k>(q, k), 0.5F), bias));
#else
  RESULT r = softmax<key>(biased(0.5F * contract<d_k>(q, k), bias));
#endif
}
