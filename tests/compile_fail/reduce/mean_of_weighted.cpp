// MISTAKE: weighted values are averaged over the keys: the weights already are the mean.
// RULE: R5
// EXPECT: ERROR_R5_mean_divides_weights_that_already_sum_to_one<.*mean.*key.*weighted<.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, batch, heads, seq, key>& kept) {
#ifdef FIXED
  RESULT y = sum<key>(a * kept);
#else
  RESULT y = mean<key>(a * kept);
#endif
}
