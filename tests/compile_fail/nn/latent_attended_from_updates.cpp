// MISTAKE: what attends to compressed positions has not the features of the model.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*d_model
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = latent_heads.attend(x, latent_heads.compressed(rename<seq, key>(x)));
#else
  RESULT y = latent_heads.attend(updates, latent_heads.compressed(rename<seq, key>(x)));
#endif
}
