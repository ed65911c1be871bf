// MISTAKE: a feed-forward layer does not name its hidden features.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*feed_forward.*over<.*argument::nothing.*declared<.*argument::dimensions
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::feed_forward<d_model, d_ff> layer;
#else
  const nn::feed_forward<d_model> layer;
#endif
  RESULT y = layer(x);
}
