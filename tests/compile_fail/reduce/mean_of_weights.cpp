// MISTAKE: weights are averaged over the keys, over which they sum to one: 1/n, whatever the scores are.
// RULE: R5
// EXPECT: ERROR_R5_mean_divides_weights_that_already_sum_to_one<.*mean.*key.*normalised<.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT heads_averaged = mean<heads>(a);
  RESULT largest = max<key>(a);
  RESULT seen = sum<key>(a);  // 0 where everything was masked
#else
  RESULT r = mean<key>(a);
#endif
}
