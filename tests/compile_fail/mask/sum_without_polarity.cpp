// MISTAKE: a sum over a tensor of bool, without saying what true means.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*sum.*batch.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void apply(const tensor<bool, batch, seq>& given) {
#ifdef FIXED
  RESULT r = sum<seq>(x, allow(given));
#else
  RESULT r = sum<seq>(x, given);
#endif
}
