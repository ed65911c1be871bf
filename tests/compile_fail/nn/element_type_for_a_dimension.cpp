// MISTAKE: a linear layer maps to an element type.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*linear.*over<float.*declared<.*argument::dimensions
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::linear<nn::from<d_model>, nn::to<d_ff>> layer;
#else
  const nn::linear<nn::from<d_model>, nn::to<float>> layer;
#endif
  RESULT y = layer(x);
}
