// MISTAKE: the scores are capped after the mask has hidden some of them.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_are_given_to_a_function<.*map.*masked_for<.*key
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = attends_itself(x, nn::soft_cap{30}, causal<seq, key>{});
#else
  RESULT y = attends_itself(x, causal<seq, key>{}, nn::soft_cap{30});
#endif
}
