// MISTAKE: the order along a dimension that the operand lacks.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*sort.*src
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = sort<seq>(x);
#else
  RESULT r = sort<src>(x);
#endif
}
