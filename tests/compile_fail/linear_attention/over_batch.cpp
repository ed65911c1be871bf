// MISTAKE: the state goes along the batch.
// RULE: R13
// EXPECT: ERROR_R13_needs_ordered_positions<.*linear_attention.*batch
// VARIANTS: equal unused dynamic
#include "lin_prelude.hpp"
#include <dimwise/nn/linear_attention.hpp>

void layer() {
#ifdef FIXED
  RESULT r = nn::linear_attention<seq, d_k>(q, k_here, v_here, state);
#else
  RESULT r = nn::linear_attention<batch, d_k>(q, k_here, v_here, state);
#endif
}
