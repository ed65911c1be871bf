// MISTAKE: the products are divided by hand, and masked before the softmax.
// RULE: R6
// EXPECT: ERROR_R6_raw_product_was_multiplied_instead_of_scaled<.*log_softmax.*raw<
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = log_softmax<key>(masked(unscaled(contract<d_k>(q, k) / 2.0F), causal<seq, key>{}));
#else
  RESULT r = log_softmax<key>(masked(contract<d_k>(q, k) / 2.0F, causal<seq, key>{}));
#endif
}
