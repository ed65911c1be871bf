// MISTAKE: latent attention attends to the queries' own positions.
// RULE: R2
// EXPECT: ERROR_R2_shared_dimension_is_not_parallel<.*seq
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = latent_heads(x, rename<seq, key>(x));
#else
  RESULT y = latent_heads(x, x);
#endif
}
