// MISTAKE: a mask of numbers: only bool has a polarity.
// RULE: R7
// EXPECT: ERROR_R7_given_mask_is_a_tensor_of_bool<.*allow
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<int, batch, key>& ones, const tensor<bool, batch, key>& bits) {
#ifdef FIXED
  RESULT r = masked(s, allow(bits));
#else
  RESULT r = masked(s, allow(ones));
#endif
}
