// MISTAKE: a number as the scale: multiplying by it does not say that it is one.
// RULE: R6
// EXPECT: ERROR_R6_scaling_by_hand_is_said_by_scaled<.*softmax.*raw<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(scaled(contract<d_k>(q, k), 0.125F));
#else
  RESULT r = softmax<key>(contract<d_k>(q, k) * 0.125F);
#endif
}
