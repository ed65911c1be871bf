// MISTAKE: the norm of weighted values is taken before they are summed over the keys.
// RULE: R5
// EXPECT: ERROR_R5_weighted_product_is_reduced_over_its_weights_only<.*norm.*d_v.*weighted<.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, batch, heads, seq, key, d_v>& values) {
#ifdef FIXED
  RESULT y = norm<d_v>(sum<key>(a * values));
#else
  RESULT y = norm<d_v>(a * values);
#endif
}
