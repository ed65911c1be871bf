// MISTAKE: a linear bias is added to unscaled products.
// RULE: R6
// EXPECT: ERROR_R6_raw_products_are_scaled_first<.*biased.*raw<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = biased(scores<d_k>(q, k), alibi<seq, key, heads>{});
#else
  RESULT r = biased(contract<d_k>(q, k), alibi<seq, key, heads>{});
#endif
}
