// MISTAKE: feed-forward is applied before the heads are brought together.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*d_model
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = feeds_forward(x);
#else
  RESULT y = feeds_forward(z);
#endif
}
