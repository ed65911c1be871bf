// MISTAKE: the best word of each sentence is sought over the batch.
// RULE: R13
// EXPECT: ERROR_R13_softmax_takes_attendable_or_choice<.*argmax.*batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void decode() {
#ifdef FIXED
  RESULT best = argmax<vocab>(logits);
#else
  RESULT best = argmax<batch>(logits);
#endif
}
