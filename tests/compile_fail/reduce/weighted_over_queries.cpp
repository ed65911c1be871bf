// MISTAKE: weighted keys are summed over the queries.
// RULE: R5
// EXPECT: ERROR_R5_weighted_product_is_reduced_over_its_weights_only<.*sum.*seq.*weighted<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, key>& gate) {
#ifdef FIXED
  RESULT r = sum<key>(a * gate);
#else
  RESULT r = sum<seq>(a * gate);
#endif
}
