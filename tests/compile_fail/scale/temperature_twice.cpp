// MISTAKE: a temperature is given as a scale of scores that are scaled already.
// RULE: R6
// EXPECT: ERROR_R6_scores_are_already_scaled<.*scaled
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = scores<d_k>(q, k) * 0.5F;
#else
  RESULT r = scaled(scores<d_k>(q, k), 0.5F);
#endif
}
