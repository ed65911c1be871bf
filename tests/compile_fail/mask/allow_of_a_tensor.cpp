// MISTAKE: `allow_of` is given the tensor itself instead of `block` of it.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*allow_of.*batch.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void apply(const tensor<bool, batch, key>& given) {
#ifdef FIXED
  RESULT r = masked(s, allow_of(block(given)));
#else
  RESULT r = masked(s, allow_of(given));
#endif
}
