// MISTAKE: the decay has features that the state lacks.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*linear_attention.*d_ff
// VARIANTS: equal unused dynamic
#include "lin_prelude.hpp"
#include <dimwise/nn/linear_attention.hpp>

extern tensor<float, batch, seq, d_ff> wide;

void layer() {
#ifdef FIXED
  RESULT r = nn::linear_attention<seq, d_k>(q, k_here, v_here, state, nn::gated_update{decay});
#else
  RESULT r = nn::linear_attention<seq, d_k>(q, k_here, v_here, state, nn::gated_update{wide});
#endif
}
