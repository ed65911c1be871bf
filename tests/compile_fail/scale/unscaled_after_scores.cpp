// MISTAKE: scores, scaled already, are declared to be unscaled.
// RULE: R6
// EXPECT: ERROR_R6_scores_are_already_scaled<.*unscaled
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = unscaled(contract<d_k>(q, k));
#else
  RESULT r = unscaled(scores<d_k>(q, k));
#endif
}
