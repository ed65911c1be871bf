// MISTAKE: the product over the batch of what a mask hides in the positions.
// RULE: R7
// EXPECT: ERROR_R7_mask_does_not_serve_this_dimension<.*prod.*batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = prod<seq>(masked(x, padding<seq>(lengths)));
#else
  RESULT r = prod<batch>(masked(x, padding<seq>(lengths)));
#endif
}
