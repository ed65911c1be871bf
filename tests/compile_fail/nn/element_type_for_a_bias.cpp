// MISTAKE: the element type is given where a linear layer takes its bias, which it would lose.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*linear.*over<float.*declared<.*argument::bias
// VARIANTS: equal unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::linear<nn::from<d_model>, nn::to<d_ff>, nn::with_bias, float> layer;
#else
  const nn::linear<nn::from<d_model>, nn::to<d_ff>, float> layer;
#endif
  RESULT y = layer(x);
}
