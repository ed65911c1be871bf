// MISTAKE: `where` chooses by numbers.
// RULE: R7
// EXPECT: ERROR_R7_given_mask_is_a_tensor_of_bool<.*where.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void choose() {
#ifdef FIXED
  RESULT y = where(x > 0.0F, x, 0.0F);
#else
  RESULT y = where(x, x, 0.0F);
#endif
}
