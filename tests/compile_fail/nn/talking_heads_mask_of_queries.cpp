// MISTAKE: the mask of talking heads serves the queries.
// RULE: R7
// EXPECT: ERROR_R7_mask_does_not_serve_this_dimension<.*softmax.*key
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = talking(x, rename<seq, key>(x), rename<seq, key>(x), causal<seq, key>{});
#else
  RESULT y = talking(x, rename<seq, key>(x), rename<seq, key>(x), causal<key, seq>{});
#endif
}
