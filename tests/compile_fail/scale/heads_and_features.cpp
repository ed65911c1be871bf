// MISTAKE: queries and keys are contracted over heads and features, and never scaled.
// RULE: R6
// EXPECT: ERROR_R6_raw_products_are_scaled_first<.*softmax.*raw<
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(scaled<heads, d_k>(contract<heads, d_k>(q, k)));
#else
  RESULT r = softmax<key>(contract<heads, d_k>(q, k));
#endif
}
