// MISTAKE: an additive mask, 0 or minus infinity, is given as a mask.
// RULE: R7
// EXPECT: ERROR_R7_given_mask_is_a_tensor_of_bool<.*masked.*seq.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, seq, key>& penalty) {
#ifdef FIXED
  RESULT r = biased(s, penalty);
#else
  RESULT r = masked(s, penalty);
#endif
}
