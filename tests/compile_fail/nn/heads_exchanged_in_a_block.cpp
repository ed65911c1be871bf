// MISTAKE: the heads and the features of a head are exchanged in the attention of a block, which adds no second error.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*multi_head_attention.*over<.*d_k.*heads
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  using attention = nn::multi_head_attention<d_model, heads, d_k, d_v>;
#else
  using attention = nn::multi_head_attention<d_model, d_k, heads, d_v>;
#endif
  RESULT z = attention()(x, memory, memory);
  using feed_forward = nn::feed_forward<d_model, d_ff>;
  const nn::transformer_block<nn::self_attention<seq, key, attention>, feed_forward, nn::layer_norm<d_model>> block;
  RESULT y = block(x);
}
