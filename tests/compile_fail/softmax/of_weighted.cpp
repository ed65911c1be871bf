// MISTAKE: weights are multiplied by a gate, then normalised by softmax once more.
// RULE: R5
// EXPECT: ERROR_R5_weighted_product_is_reduced_over_its_weights_only<.*softmax.*weighted<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, key>& gate) {
#ifdef FIXED
  RESULT r = renormalise<key>(a * gate);
#else
  RESULT r = softmax<key>(a * gate);
#endif
}
