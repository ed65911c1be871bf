// MISTAKE: heads are merged with the features of the keys; these are values.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*merge.*d_k
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = merge<heads, d_v>(z);
#else
  RESULT r = merge<heads, d_k>(z);
#endif
}
