// MISTAKE: one beta for all positions, where each has its own.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*linear_attention.*seq
// VARIANTS: equal unused dynamic
#include "lin_prelude.hpp"
#include <dimwise/nn/linear_attention.hpp>

extern tensor<float, batch, heads> once;

void layer() {
#ifdef FIXED
  RESULT r = nn::linear_attention<seq, d_k>(q, k_here, v_here, state, nn::gated_delta_update{decay, beta});
#else
  RESULT r = nn::linear_attention<seq, d_k>(q, k_here, v_here, state, nn::gated_delta_update{decay, once});
#endif
}
