// MISTAKE: an attention names two element types, of which the second would have no effect.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*multi_head_attention.*over<.*elements<double.*elements<float.*declared<.*one_of_each_option
#include "nn_prelude.hpp"

void layer() {
#ifdef FIXED
  const nn::multi_head_attention<d_model, heads, d_k, d_v, nn::elements<float>, nn::no_bias> layer;
#else
  const nn::multi_head_attention<d_model, heads, d_k, d_v, nn::elements<double>, nn::no_bias, nn::elements<float>>
      layer;
#endif
  RESULT y = layer(x, memory, memory);
}
