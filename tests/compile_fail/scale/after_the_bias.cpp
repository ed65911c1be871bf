// MISTAKE: the bias is added before the scale.
// RULE: R6
// EXPECT: ERROR_R6_raw_products_are_scaled_first<.*biased.*raw<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, heads, seq, key>& bias) {
#ifdef FIXED
  RESULT r = biased(scores<d_k>(q, k), bias);
#else
  RESULT r = biased(contract<d_k>(q, k), bias);
#endif
}
