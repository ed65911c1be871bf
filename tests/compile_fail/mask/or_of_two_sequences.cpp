// MISTAKE: either a mask of the decoder's keys or one of the encoder's allows.
// RULE: R7
// EXPECT: ERROR_R7_masks_serve_no_common_dimension<.*mask_or.*key.*src
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  [[maybe_unused]] auto m = causal<seq, key>{} | padding<key>(lengths);
#else
  [[maybe_unused]] auto m = causal<seq, key>{} | padding<src>(lengths);
#endif
}
