// MISTAKE: the heads are contracted together with their features: all heads share one score.
// RULE: R6
// EXPECT: ERROR_R6_scores_are_products_of_positions<.*heads
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = scores<d_k>(q, k);
#else
  RESULT r = scores<heads, d_k>(q, k);
#endif
}
