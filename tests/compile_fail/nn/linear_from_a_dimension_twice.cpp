// MISTAKE: a linear layer names its input dimension twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*linear.*over<.*d_model
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::linear<nn::from<d_model>, nn::to<d_ff>> layer;
#else
  const nn::linear<nn::from<d_model, d_model>, nn::to<d_ff>> layer;
#endif
  RESULT y = layer(x);
}
