// MISTAKE: keys are renamed as for softmax attention; a state goes along one sequence.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*linear_attention.*seq
// VARIANTS: equal unused dynamic
#include "lin_prelude.hpp"
#include <dimwise/nn/linear_attention.hpp>

void layer() {
#ifdef FIXED
  RESULT r = nn::linear_attention<seq, d_k>(q, k_here, v_here, state);
#else
  RESULT r = nn::linear_attention<seq, d_k>(q, k, v, state);
#endif
}
