// MISTAKE: the padding hides queries, softmax goes over keys.
// RULE: R7
// EXPECT: ERROR_R7_mask_does_not_serve_this_dimension<.*softmax.*key.*masked_for<.*seq
// FROM: key-padding mask laid on the query axis
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(masked(s, padding<key>(lengths)));
#else
  RESULT r = softmax<key>(masked(s, padding<seq>(lengths)));
#endif
}
