// MISTAKE: weighted values are projected and then summed over the queries instead of the keys.
// RULE: R5
// EXPECT: ERROR_R5_weighted_product_is_reduced_over_its_weights_only<.*sum.*seq.*weighted<.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void contributions(const tensor<float, batch, heads, seq, key, d_v, weighted<key>>& weighted_values) {
  auto projected = contract<d_v>(weighted_values, w_o);
#ifdef FIXED
  RESULT y = sum<key>(projected);
#else
  RESULT y = sum<seq>(projected);
#endif
}
