// MISTAKE: the element type of a norm is given as in a tensor, before its features.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*layer_norm.*over<double.*declared<.*features_or_elements
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::layer_norm<d_model, nn::elements<double>> layer;
#else
  const nn::layer_norm<double, d_model> layer;
#endif
  RESULT y = layer(x);
}
