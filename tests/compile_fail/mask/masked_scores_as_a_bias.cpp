// MISTAKE: masked scores are given to an attention that forms scores of its own.
// RULE: R7
// EXPECT: ERROR_R7_bias_is_masked_instead_of_the_scores<.*biased.*score<.*masked_for<
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/nn.hpp>

void attention() {
#ifdef FIXED
  RESULT r = nn::attention<d_k, key>(q, k, v, causal<seq, key>{});
#else
  RESULT r = nn::attention<d_k, key>(q, k, v, masked(s, causal<seq, key>{}));
#endif
}
