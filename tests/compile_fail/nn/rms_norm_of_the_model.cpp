// MISTAKE: the norm of a head's features is applied to the model's.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*rms_norm.*d_k
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = head_norm(q);
#else
  RESULT y = head_norm(x);
#endif
}
