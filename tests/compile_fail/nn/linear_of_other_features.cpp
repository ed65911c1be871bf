// MISTAKE: a layer from d_model is applied to the features of heads.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*contract.*d_model
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = to_keys(x);
#else
  RESULT y = to_keys(q);
#endif
}
