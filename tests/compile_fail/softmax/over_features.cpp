// MISTAKE: softmax goes over the features, the last dimension.
// RULE: R13
// EXPECT: ERROR_R13_softmax_takes_attendable_or_choice<.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<vocab>(contract<d_model>(x, embedding));
#else
  RESULT r = softmax<d_model>(x);
#endif
}
