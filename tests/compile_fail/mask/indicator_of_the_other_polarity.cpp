// MISTAKE: 1 and 0 of a mask that is true where something is hidden.
// RULE: R7
// EXPECT: ERROR_R7_block_mask_needs_allow_of<.*indicator.*batch.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void apply(const tensor<bool, batch, seq>& given) {
#ifdef FIXED
  RESULT r = indicator(allow_of(block(given)));
#else
  RESULT r = indicator(block(given));
#endif
}
