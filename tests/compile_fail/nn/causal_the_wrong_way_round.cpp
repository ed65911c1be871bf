// MISTAKE: the causal mask lets keys see no later queries.
// RULE: R7
// EXPECT: ERROR_R7_mask_does_not_serve_this_dimension<.*softmax.*key
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = attends_itself(x, causal<seq, key>{});
#else
  RESULT y = attends_itself(x, causal<key, seq>{});
#endif
}
