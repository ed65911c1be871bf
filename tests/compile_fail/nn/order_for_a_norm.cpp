// MISTAKE: a block lacks its norm, so that its order stands there.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*decoder_layer.*over<.*pre_norm.*declared<.*argument::norm
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::decoder_layer<own_attention, memory_attention, two_layers, feature_norm, nn::pre_norm> layer;
#else
  const nn::decoder_layer<own_attention, memory_attention, two_layers, nn::pre_norm> layer;
#endif
  RESULT y = layer(x, memory);
}
