// MISTAKE: a mask of numbers that are 1 where something is hidden.
// RULE: R7
// EXPECT: ERROR_R7_given_mask_is_a_tensor_of_bool<.*batch.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<int, batch, key>& ones, const tensor<bool, batch, key>& bits) {
#ifdef FIXED
  RESULT r = masked(s, allow_of(block(bits)));
#else
  RESULT r = masked(s, allow_of(block(ones)));
#endif
}
