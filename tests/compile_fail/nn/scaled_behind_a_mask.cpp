// MISTAKE: a scale of the user's own follows the mask, where the scores are scaled already.
// RULE: R6
// EXPECT: ERROR_R6_scores_are_already_scaled<.*scaled
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = attends_itself(x, nn::scaled_by{0.5}, causal<seq, key>{});
#else
  RESULT y = attends_itself(x, causal<seq, key>{}, nn::scaled_by{0.5});
#endif
}
