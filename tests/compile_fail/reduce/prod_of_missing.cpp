// MISTAKE: the product over a dimension that the operand lacks.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*prod.*d_k
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = prod<d_model>(x);
#else
  RESULT r = prod<d_k>(x);
#endif
}
