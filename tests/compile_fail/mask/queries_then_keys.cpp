// MISTAKE: queries are hidden first, then keys: no softmax could follow.
// RULE: R7
// EXPECT: ERROR_R7_masks_serve_no_common_dimension<.*masked.*masked_for<.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = masked(masked(s, causal<seq, key>{}), padding<key>(lengths));
#else
  RESULT r = masked(masked(s, padding<seq>(lengths)), padding<key>(lengths));
#endif
}
