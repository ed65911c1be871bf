// MISTAKE: the lengths of the decoder's keys mask the encoder's.
// RULE: R7
// EXPECT: ERROR_R7_mask_has_dimensions_that_the_scores_lack<.*masked.*key
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = attends_memory(x, memory, padding<src>(lengths));
#else
  RESULT y = attends_memory(x, memory, padding<key>(lengths));
#endif
}
