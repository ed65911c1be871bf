// MISTAKE: linear attention is given no state.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*linear_attention.*d_k
// VARIANTS: dynamic unused
#include "lin_prelude.hpp"
#include <dimwise/nn/linear_attention.hpp>

void layer() {
#ifdef FIXED
  RESULT r = nn::linear_attention<seq, d_k>(q, k_here, v_here, state);
#else
  RESULT r = nn::linear_attention<seq, d_k>(q, k_here, v_here);
#endif
}
