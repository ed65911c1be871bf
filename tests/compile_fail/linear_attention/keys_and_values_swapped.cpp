// MISTAKE: keys and values are swapped.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*linear_attention.*d_k
// VARIANTS: equal unused dynamic
#include "lin_prelude.hpp"
#include <dimwise/nn/linear_attention.hpp>

void layer() {
#ifdef FIXED
  RESULT r = nn::linear_attention<seq, d_k>(q, k_here, v_here, state);
#else
  RESULT r = nn::linear_attention<seq, d_k>(q, v_here, k_here, state);
#endif
}
