// MISTAKE: a second norm stands in the place of the order of a block.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*transformer_block.*over<.*layer_norm.*declared<.*argument::order
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::transformer_block<own_attention, two_layers, feature_norm, nn::pre_norm> layer;
#else
  const nn::transformer_block<own_attention, two_layers, feature_norm, feature_norm> layer;
#endif
  RESULT y = layer(x);
}
