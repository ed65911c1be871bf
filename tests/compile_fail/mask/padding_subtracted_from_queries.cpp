// MISTAKE: (1 - mask) * 1e9 is subtracted along the queries.
// RULE: R7
// EXPECT: ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over<.*softmax.*key.*biased_for<.*seq
// FROM: key-padding mask laid on the query axis
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, batch, seq> kept;
extern tensor<float, batch, key> kept_keys;

void layer() {
#ifdef FIXED
  RESULT r = softmax<key>(s - (1.0F - kept_keys) * 1e9F);
#else
  RESULT r = softmax<key>(s - (1.0F - kept) * 1e9F);
#endif
}
