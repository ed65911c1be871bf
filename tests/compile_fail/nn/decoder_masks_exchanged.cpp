// MISTAKE: the causal mask stands where the memory's belongs.
// RULE: R7
// EXPECT: ERROR_R7_mask_has_dimensions_that_the_scores_lack<.*masked.*key
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = decodes(x, memory, causal<seq, key>{});
#else
  RESULT y = decodes(x, memory, nn::each(), causal<seq, key>{});
#endif
}
