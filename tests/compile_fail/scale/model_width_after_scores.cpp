// MISTAKE: scores, scaled already, are scaled again by the width of the model.
// RULE: R6
// EXPECT: ERROR_R6_scores_are_already_scaled<.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = scores<d_k>(q, k);
#else
  RESULT r = scaled<d_model>(scores<d_k>(q, k));
#endif
}
