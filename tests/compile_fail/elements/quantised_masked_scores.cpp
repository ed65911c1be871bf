// MISTAKE: masked scores are rounded to 8 bits: −∞ has no multiple of a step.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_go_to_softmax_or_a_reduction<.*quantised.*masked_for<.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
  const auto s = scores<d_k>(q, k);
#ifdef FIXED
  RESULT r = softmax<key>(masked(quantised<key>(s), causal<seq, key>{}));
#else
  RESULT r = softmax<key>(quantised<key>(masked(s, causal<seq, key>{})));
#endif
}
