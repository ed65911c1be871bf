// MISTAKE: the norm and the feed-forward layer of a block are exchanged.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*transformer_block.*over<.*layer_norm.*feed_forward.*declared<.*argument::layer.*argument::norm
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::transformer_block<own_attention, two_layers, feature_norm> layer;
#else
  using doubles = nn::feed_forward<d_model, d_ff, nn::activation::gelu, nn::no_bias, double>;
  const nn::transformer_block<own_attention, feature_norm, doubles> layer;
#endif
  RESULT y = layer(x);
}
