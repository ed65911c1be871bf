// MISTAKE: the state has other heads than the keys.
// RULE: R3
// EXPECT: ERROR_R3_assigned_dimensions_differ<.*linear_attention.*kv_heads
// VARIANTS: equal unused dynamic
#include "lin_prelude.hpp"
#include <dimwise/nn/linear_attention.hpp>

extern nn::linear_state<float, batch, kv_heads, d_k, d_v> state_of_others;

void layer() {
#ifdef FIXED
  RESULT r = nn::linear_attention<seq, d_k>(q, k_here, v_here, state);
#else
  RESULT r = nn::linear_attention<seq, d_k>(q, k_here, v_here, state_of_others);
#endif
}
