// MISTAKE: masked scores are rounded to bfloat16 before softmax: a hidden score is not a number.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_go_to_softmax_or_a_reduction<.*rounded.*masked_for<.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = softmax<key>(masked(rounded<bfloat16>(scores<d_k>(q, k)), causal<seq, key>{}));
#else
  RESULT r = softmax<key>(rounded<bfloat16>(masked(scores<d_k>(q, k), causal<seq, key>{})));
#endif
}
