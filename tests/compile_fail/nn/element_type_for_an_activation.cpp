// MISTAKE: the element type is given where a feed-forward layer takes its activation.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*feed_forward.*over<double.*declared<.*argument::activation
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::feed_forward<d_model, d_ff, nn::activation::relu, nn::with_bias, double> layer;
#else
  const nn::feed_forward<d_model, d_ff, double> layer;
#endif
  RESULT y = layer(x);
}
