// MISTAKE: `scores` has scaled already.
// RULE: R6
// EXPECT: ERROR_R6_scores_are_already_scaled<.*score<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = scores<d_k>(q, k);
#else
  RESULT r = scaled<d_k>(scores<d_k>(q, k));
#endif
}
