// MISTAKE: a mask of keys, of whole rows, beside one that serves them.
// RULE: R7
// EXPECT: ERROR_R7_masks_serve_no_common_dimension<.*mask_and.*any_but<.*key
// VARIANTS: equal unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = masked(s, padding<key>(lengths) & causal<seq, key>{});
#else
  RESULT r = masked(s, whole_rows(padding<key>(lengths)) & causal<seq, key>{});
#endif
}
