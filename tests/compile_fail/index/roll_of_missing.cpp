// MISTAKE: positions are rolled that the operand does not have.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*roll.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = roll<seq>(x, 1);
#else
  RESULT r = roll<key>(x, 1);
#endif
}
