// MISTAKE: the norm over a dimension that the operand lacks.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*norm.*d_k
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void lengths() {
#ifdef FIXED
  RESULT r = norm<d_model>(x);
#else
  RESULT r = norm<d_k>(x);
#endif
}
