// MISTAKE: products are masked and normalised, but never scaled.
// RULE: R6
// EXPECT: ERROR_R6_raw_products_are_scaled_first<.*softmax.*raw<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{}));
#else
  RESULT r = softmax<key>(masked(contract<d_k>(q, k), causal<seq, key>{}));
#endif
}
