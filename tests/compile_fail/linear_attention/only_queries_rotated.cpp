// MISTAKE: the queries are rotated, the keys are not.
// RULE: R9
// EXPECT: ERROR_R9_only_one_operand_is_rotated<.*linear_attention.*rotated<
// VARIANTS: equal unused dynamic
#include "lin_prelude.hpp"
#include <dimwise/nn/linear_attention.hpp>

extern nn::linear_state<float, batch, heads, d_k, d_v, rotated<d_k, seq>> rotated_state;

void layer() {
#ifdef FIXED
  RESULT r = nn::linear_attention<seq, d_k>(rotary<seq, d_k>(q), rotary<seq, d_k>(k_here), v_here, rotated_state);
#else
  RESULT r = nn::linear_attention<seq, d_k>(rotary<seq, d_k>(q), k_here, v_here, rotated_state);
#endif
}
