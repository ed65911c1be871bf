// MISTAKE: `scores` for a projection: the result has features.
// RULE: R6
// EXPECT: ERROR_R6_scores_are_products_of_positions<.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<d_model>(x, w_q);
#else
  RESULT r = scores<d_model>(x, w_q);
#endif
}
