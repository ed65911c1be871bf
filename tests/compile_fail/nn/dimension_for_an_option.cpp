// MISTAKE: a dimension is given where an attention takes options.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*multi_head_attention.*over<.*d_ff.*declared<.*argument::option
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::multi_head_attention<d_model, heads, d_k, d_v, nn::no_bias> layer;
#else
  const nn::multi_head_attention<d_model, heads, d_k, d_v, d_ff> layer;
#endif
  RESULT y = layer(x, memory, memory);
}
