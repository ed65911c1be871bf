// MISTAKE: the largest score over the queries, under a mask of keys.
// RULE: R7
// EXPECT: ERROR_R7_mask_does_not_serve_this_dimension<.*max.*seq.*masked_for<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = max<key>(masked(s, causal<seq, key>{}));
#else
  RESULT r = max<seq>(masked(s, causal<seq, key>{}));
#endif
}
