// MISTAKE: latent attention compresses what has not the features of the model.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*d_model
// VARIANTS: equal dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  [[maybe_unused]] auto there = latent_heads.compressed(memory);
#else
  [[maybe_unused]] auto there = latent_heads.compressed(updates);
#endif
}
