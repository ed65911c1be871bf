// MISTAKE: the keys are taken as values, too.
// RULE: R16
// EXPECT: ERROR_R16_query_key_and_value_are_told_apart_by_dimensions<.*linear_attention.*d_k
// VARIANTS: equal unused dynamic
#include "lin_prelude.hpp"
#include <dimwise/nn/linear_attention.hpp>

void layer() {
#ifdef FIXED
  RESULT r = nn::linear_attention<seq, d_k>(q, k_here, v_here, state);
#else
  RESULT r = nn::linear_attention<seq, d_k>(q, k_here, k_here, state);
#endif
}
