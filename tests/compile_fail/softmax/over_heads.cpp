// MISTAKE: softmax goes over the heads.
// RULE: R13
// EXPECT: ERROR_R13_softmax_takes_attendable_or_choice<.*heads
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(s);
#else
  RESULT r = softmax<heads>(s);
#endif
}
