// MISTAKE: softmax goes over the first dimension, the batch.
// RULE: R13
// EXPECT: ERROR_R13_softmax_takes_attendable_or_choice<.*softmax.*batch
// FROM: softmax over batch*output rows
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(s);
#else
  RESULT r = softmax<batch>(s);
#endif
}
