// MISTAKE: a norm over d_model is applied to one over heads.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*layer_norm.*d_model
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = norms(x);
#else
  RESULT y = norms(q);
#endif
}
