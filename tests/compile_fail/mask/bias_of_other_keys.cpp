// MISTAKE: a bias between queries and the encoder's positions is added to scores of the decoder's.
// RULE: R7
// EXPECT: ERROR_R7_mask_has_dimensions_that_the_scores_lack<.*biased.*src
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, heads, seq, src>& bias) {
#ifdef FIXED
  RESULT r = biased(s_src, bias);
#else
  RESULT r = biased(s, bias);
#endif
}
