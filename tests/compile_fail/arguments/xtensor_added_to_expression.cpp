// MISTAKE: an array of xtensor, which has no dimensions, added to an expression.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*elementwise.*batch, ?.*seq, ?.*d_model.*container_of
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

#include <xtensor/xtensor.hpp>

void layer(xt::xtensor<float, 3>& bias) {
#ifdef FIXED
  RESULT y = x * 2.0F + x;
#else
  RESULT y = x * 2.0F + bias;
#endif
  (void)bias;
}
