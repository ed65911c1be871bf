// MISTAKE: queries and keys of the linear bias are reversed.
// RULE: R7
// EXPECT: ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over<.*softmax.*key.*biased_for<.*seq
// FROM: ALiBi sign/axis reversed
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = softmax<key>(biased(s, alibi<seq, key, heads>{}));
#else
  RESULT r = softmax<key>(biased(s, alibi<key, seq, heads>{}));
#endif
}
