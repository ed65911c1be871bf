// MISTAKE: a number for a decay of the state, which is a tensor with positions.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*linear_attention.*double
// VARIANTS: equal unused dynamic
#include "lin_prelude.hpp"
#include <dimwise/nn/linear_attention.hpp>

void layer() {
#ifdef FIXED
  RESULT r = nn::linear_attention<seq, d_k>(q, k_here, v_here, state, nn::gated_delta_update{decay, beta});
#else
  RESULT r = nn::linear_attention<seq, d_k>(q, k_here, v_here, state, nn::gated_delta_update{0.9, beta});
#endif
}
