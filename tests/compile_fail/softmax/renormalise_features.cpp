// MISTAKE: features are renormalised as if they were alternatives.
// RULE: R13
// EXPECT: ERROR_R13_softmax_takes_attendable_or_choice<.*renormalise.*d_k
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = renormalise<key>(a);
#else
  RESULT r = renormalise<d_k>(q);
#endif
}
