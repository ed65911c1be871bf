// MISTAKE: the heads and the features of a head are exchanged in the type of the attention.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*multi_head_attention.*over<.*d_k.*heads.*declared<.*heads.*features
// VARIANTS: equal unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::multi_head_attention<d_model, heads, d_k, d_v> attention;
#else
  const nn::multi_head_attention<d_model, d_k, heads, d_v> attention;
#endif
  RESULT y = attention(x, memory, memory);
}
