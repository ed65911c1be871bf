// MISTAKE: a norm names two element types, of which the first would have no effect.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*layer_norm.*over<.*elements<double.*elements<float.*declared<.*features_or_elements
#include "nn_prelude.hpp"

void layer() {
#ifdef FIXED
  const nn::layer_norm<d_model, nn::elements<float>> layer;
#else
  const nn::layer_norm<d_model, nn::elements<double>, nn::elements<float>> layer;
#endif
  RESULT y = layer(x);
}
