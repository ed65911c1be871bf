// MISTAKE: the features are given where self-attention takes its attention.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*self_attention.*over<.*d_model.*declared<.*argument::attention
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::self_attention<seq, key, heads_attention> layer;
#else
  const nn::self_attention<seq, key, d_model> layer;
#endif
  RESULT y = layer(x);
}
